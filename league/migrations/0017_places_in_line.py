from django.db import migrations
from django.db.models import F, OuterRef, Subquery


def stand_in_line(apps, schema_editor):
    """What waits at this moment is its tournament's owner's, and keeps its order."""
    Match, Tournament = apps.get_model("league", "Match"), apps.get_model("league", "Tournament")
    owner = Tournament.objects.filter(pk=OuterRef("tournament")).values("owner")
    # Through the plain manager: audits have no owner, and none of theirs is needed
    Match._base_manager.filter(status="queued").update(owner=Subquery(owner), virtual_s=F("turn"))


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0016_fair_turns'),
    ]

    operations = [migrations.RunPython(stand_in_line, migrations.RunPython.noop, elidable=True)]
