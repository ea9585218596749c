import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0057_judgements'),
    ]

    operations = [
        migrations.AddField(
            model_name='rating',
            name='played',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='rating',
            name='idle',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='TableOfDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('ranked', models.PositiveBigIntegerField()),
                ('since', models.DateField(null=True)),
                ('taken', models.DateTimeField()),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='days', to='league.pool')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('pool', 'day'), name='day_once')],
            },
        ),
        migrations.CreateModel(
            name='PlaceOfDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveIntegerField()),
                ('elo', models.FloatField()),
                ('provisional', models.BooleanField()),
                ('rise', models.FloatField(null=True)),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.bot')),
                (
                    'table',
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='places', to='league.tableofday'),
                ),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('rise__isnull', False)), fields=['table', '-rise'], name='place_risen'),
                ],
                'constraints': [models.UniqueConstraint(fields=('table', 'bot'), name='place_once')],
            },
        ),
    ]
