"""Tables of the open data: files of replays for download."""

from __future__ import annotations

from django.db import models


class DataFile(models.Model):
    """The public matches of one game that became visible in one month, as replays (league.domain.upkeep.open_data)."""

    game = models.CharField(max_length=40)
    month = models.DateField()  # Its first day.
    matches = models.PositiveIntegerField(default=0)
    replays = models.PositiveIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True, default="")
    renewed = models.DateTimeField()  # When its writer was last seen.
    written = models.DateTimeField(null=True)  # null: a process writes it, or was killed while it did.

    class Meta:
        constraints = [models.UniqueConstraint(fields=["month", "game"], name="data_file_once")]

    def __str__(self) -> str:
        return f"tute-{self.game}-{self.month:%Y-%m}.jsonl.zst"


class DataPart(models.Model):
    """Some bytes of a file, so that neither its writer nor a download has the whole file in memory."""

    file = models.ForeignKey(DataFile, on_delete=models.CASCADE, related_name="parts", db_index=False)  # data_part_once
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="data_part_once")]

    def __str__(self) -> str:
        return f"part {self.number} of file {self.file_id}"
