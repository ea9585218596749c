from collections.abc import Iterator
from typing import Any

from django.db import migrations, models

from league.pure.names import skeletons, without_part


def take(apps: Any, editor: Any) -> None:
    """Every name belongs to who had it first; later ones that look like it are kept, and listed by check_invariants."""
    rows = apps.get_model("league", "TakenName").objects
    for kind, name, holder in named(apps):
        for skeleton in sorted(skeletons(name)):
            rows.get_or_create(kind=kind, skeleton=skeleton, defaults={"name": name, "holder": holder})


def named(apps: Any) -> Iterator[tuple[str, str, str]]:
    for name in apps.get_model("league", "Player").objects.order_by("pk").values_list("name", flat=True):
        yield "player", name, f"player:{name}"
    for slug in apps.get_model("league", "Bot").objects.order_by("pk").values_list("slug", flat=True):
        yield "bot", slug, f"bot:{slug}"
    own = apps.get_model("league", "Tournament").objects.filter(event=None, season=None)
    rest = [apps.get_model("league", name).objects.all() for name in ("Event", "Circuit")]
    found = [row for rows in (own, *rest) for row in rows.values_list("created", "name", "owner__name")]
    for _, name, owner in sorted(found):
        yield "event", without_part(name), f"player:{owner}"


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0008_format_choices'),
    ]

    operations = [
        migrations.CreateModel(
            name='TakenName',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=10)),
                ('skeleton', models.CharField(max_length=400)),
                ('name', models.CharField(max_length=120)),
                ('holder', models.CharField(max_length=80)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('kind', 'skeleton'), name='name_once')],
            },
        ),
        migrations.RunPython(take, migrations.RunPython.noop),
    ]
