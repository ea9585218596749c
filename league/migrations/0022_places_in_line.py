from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery

from league.service.migrating import AddIndexMeanwhile


def stand_in_line(apps, schema_editor):
    """What waits at this moment is its tournament's owner's, and keeps its order."""
    Match, Tournament = apps.get_model("league", "Match"), apps.get_model("league", "Tournament")
    owner = Tournament.objects.filter(pk=OuterRef("tournament")).values("owner")
    # Through the plain manager: audits have no owner, and none of theirs is needed
    Match._base_manager.filter(status="queued").update(owner=Subquery(owner), virtual_s=F("turn"))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('league', '0021_fair_turns'),
    ]

    operations = [
        migrations.RunPython(stand_in_line, migrations.RunPython.noop, elidable=True),
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(fields=['status', '-priority', 'virtual_s', 'id'], name='match_line'),
        ),
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(condition=models.Q(('status', 'queued')), fields=['owner', 'priority', 'turn', 'id'], name='match_of_owner'),
        ),
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(condition=models.Q(('status__in', ['leased', 'running', 'finished'])), fields=['owner', 'priority', '-virtual_s'], name='match_served'),
        ),
    ]
