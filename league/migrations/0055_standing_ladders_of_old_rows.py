from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile, CheckOldRows


class Migration(migrations.Migration):

    atomic = False  # an index is built meanwhile

    dependencies = [
        ('league', '0054_standing_ladders'),
    ]

    operations = [
        CheckOldRows('match', 'match_kind_word'),
        AddIndexMeanwhile(
            model_name='botversion',
            index=models.Index(
                condition=models.Q(('entered', None), ('status', 'accepted')),
                fields=['id'],
                name='version_to_enter',
            ),
        ),
    ]
