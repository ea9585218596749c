from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('league', '0052_fewer_indexes'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='match',
            index=models.Index(condition=models.Q(models.Q(('status', 'void'), models.Q(('rated', False), ('status', 'finished')), _connector='OR'), ('counted__isnull', False)), fields=['pool'], name='match_struck'),
        ),
    ]
