import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0022_places_in_line'),
    ]

    operations = [
        migrations.AddField(
            model_name='tournament',
            name='booked_boards',
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='tournament',
            name='planned_matches',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.CreateModel(
            name='Quota',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=20)),
                ('value', models.BigIntegerField()),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='quotas', to='league.player')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('player', 'name'), name='quota_once')],
            },
        ),
    ]
