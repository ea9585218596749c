from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False  # indexes are built meanwhile

    dependencies = [
        ('league', '0071_played_sums'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(condition=models.Q(('rated', True), ('status', 'finished'), ('summed', False)), fields=['-id'], name='match_unsummed'),
        ),
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(condition=models.Q(models.Q(('status', 'void'), models.Q(('rated', False), ('status', 'finished')), _connector='OR'), ('summed', True)), fields=['id'], name='match_to_take_out'),
        ),
    ]
