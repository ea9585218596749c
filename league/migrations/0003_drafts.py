import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0002_guests'),
    ]

    operations = [
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('bot', models.CharField(blank=True, max_length=40)),
                ('text', models.TextField()),
                ('updated', models.DateTimeField()),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='league.player')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('player', 'bot'), name='draft_once')],
            },
        ),
    ]
