"""Tables of people: who may watch, tables with the same deals, the number of a person's decision, the next look at a resting table.

Fields called by a bare participle get a name; their columns keep the names that the previous release uses.
"""

from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked, AddIndexMeanwhile, CheckOldRows, RenameFieldOnly

RENAMED = (
    ("tableperson", "seen", "events", models.JSONField(db_column="seen", default=list)),
    ("tableperson", "said", "phrase_at", models.DateTimeField(db_column="said", null=True)),
    ("teammember", "shown", "is_public", models.BooleanField(db_column="shown", db_default=False, default=False)),
)
WATCHING = [
    ("nobody", "nobody"),
    ("hidden", "anyone with the link, without the hands"),
    ("later", "anyone with the link, with all hands 12 decisions later"),
    ("over", "anyone with the link, with all hands when a hand is over"),
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [('league', '0028_notices')]

    operations = [
        *(RenameFieldOnly(*names) for names in RENAMED),
        migrations.AddField(
            "table", "watching", models.CharField(choices=WATCHING, db_default="hidden", default="hidden", max_length=8)
        ),
        migrations.AddField("table", "deals", models.CharField(blank=True, db_default="", default="", max_length=12)),
        migrations.AddField("table", "deals_until", models.DateTimeField(null=True)),
        migrations.AddField("table", "question", models.PositiveIntegerField(db_default=0, default=0)),
        migrations.AddField("table", "due", models.DateTimeField(null=True)),
        AddIndexMeanwhile(
            "table", models.Index(condition=~models.Q(deals=""), fields=["deals"], name="table_of_deals")
        ),
        AddIndexMeanwhile(
            "table",
            models.Index(
                condition=models.Q(gathering=False, shared=True, status="resting"), fields=["due"], name="table_due"
            ),
        ),
        AddConstraintUnchecked(
            "table",
            models.CheckConstraint(
                condition=models.Q(watching__in=["nobody", "hidden", "later", "over"]), name="table_watching_word"
            ),
        ),
        CheckOldRows("table", "table_watching_word"),
    ]
