"""Notices of comments and answers; letters whose arrival nobody knows; bosses that have to be beaten by a margin."""

from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked, CheckOldRows

KINDS = [
    ('failed', 'One of my bots fails'),
    ('overtaken', 'One of my bots is overtaken'),
    ('asked', 'Somebody asks for one of my bots or challenges it'),
    ('table', 'A table waits for me'),
    ('event', 'A tournament that I play in or follow starts or ends'),
    ('assignment', 'An assignment of my class is due'),
    ('followed', 'A bot or player that I follow has news'),
    ('talk', 'Somebody comments on what is mine, or answers me'),
]


def _widened(model: str, table: str) -> list[migrations.operations.base.Operation]:
    name = f"{table}_kind_word"
    words = models.CheckConstraint(condition=models.Q(('kind__in', [word for word, _ in KINDS])), name=name)
    return [
        migrations.RemoveConstraint(model_name=model, name=name),
        migrations.AlterField(model_name=model, name='kind', field=models.CharField(choices=KINDS, max_length=12)),
        AddConstraintUnchecked(model, words),
        CheckOldRows(model, name),
    ]


def _forget(apps, schema_editor) -> None:
    """Remove, on the way back, the rows whose kind the release before does not know."""
    for model in ("Notice", "NoticeChoice"):
        apps.get_model("league", model).objects.filter(kind="talk").delete()


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0027_class'),
    ]

    operations = [
        *_widened('notice', 'notice'),
        *_widened('noticechoice', 'notice_choice'),
        migrations.AddField(model_name='subscription', name='doubt', field=models.DateTimeField(null=True)),
        migrations.AddField(model_name='boss', name='margin', field=models.PositiveSmallIntegerField(db_default=0, default=0)),
        migrations.AddField(model_name='bosstest', name='margin', field=models.PositiveSmallIntegerField(db_default=0, default=0)),
        migrations.RunPython(migrations.RunPython.noop, _forget),
    ]
