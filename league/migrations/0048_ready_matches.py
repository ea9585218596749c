from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0047_one_index_each'),
    ]

    operations = [
        migrations.CreateModel(
            name='Outlook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('crew', models.PositiveIntegerField()),
                ('idle', models.PositiveIntegerField()),
                ('waiting', models.PositiveIntegerField()),
                ('slow', models.PositiveIntegerField()),
                ('slow_waits', models.BooleanField()),
                ('greedy', models.JSONField(default=list)),
            ],
        ),
        migrations.AddField(
            model_name='match',
            name='held_back',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
