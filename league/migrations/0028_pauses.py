import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0027_words_of_old_rows'),
    ]

    operations = [
        migrations.AddField(
            model_name='bot',
            name='held_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='bot',
            name='held_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='bot',
            name='sends',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.botversion'),
        ),
        migrations.AddField(
            model_name='tournament',
            name='paused',
            field=models.DateTimeField(null=True),
        ),
    ]
