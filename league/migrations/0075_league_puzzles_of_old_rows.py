from django.db import migrations


def queue(apps, schema_editor):
    """What was judged fairly and counted before is looked through, too: a small table, of which nobody waits for a row."""
    judgements = apps.get_model("league", "Judgement").objects.filter(kind="fair", status="done", summed=True)
    searches = apps.get_model("league", "PuzzleSearch")
    searches.objects.bulk_create(
        (searches(judgement_id=pk) for pk in judgements.values_list("pk", flat=True)), batch_size=500, ignore_conflicts=True
    )


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0074_league_puzzles'),
    ]

    operations = [migrations.RunPython(queue, migrations.RunPython.noop)]
