"""Contests: descriptions, who may enter, and disqualified entries."""

from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked


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
        # Rows that are there already get the default.
        AddConstraintUnchecked(
            'event',
            models.CheckConstraint(condition=models.Q(('entrance__in', ['anybody', 'owner'])), name='event_entrance_word'),
        ),
        AddConstraintUnchecked(
            'tournament',
            models.CheckConstraint(condition=models.Q(('entrance__in', ['anybody', 'owner'])), name='tournament_entrance_word'),
        ),
    ]
