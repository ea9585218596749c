"""Contests: descriptions, who may enter, and disqualified entries."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0003_drafts'),
    ]

    operations = [
        migrations.AddField(
            model_name='circuit',
            name='description',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='entry',
            name='disqualified',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='entry',
            name='disqualified_for',
            field=models.CharField(blank=True, db_default='', default='', max_length=300),
        ),
        migrations.AddField(
            model_name='event',
            name='description',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='event',
            name='entrance',
            field=models.CharField(choices=[('anybody', 'anyone with a bot'), ('owner', 'only bots that I choose')], db_default='owner', default='owner', max_length=10),
        ),
        migrations.AddField(
            model_name='event',
            name='entries_from',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='tournament',
            name='description',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='tournament',
            name='entrance',
            field=models.CharField(choices=[('anybody', 'anyone with a bot'), ('owner', 'only bots that I choose')], db_default='anybody', default='anybody', max_length=10),
        ),
    ]
