"""Calendars: the private link of a player, events by their start, house bots that fill the seasons of a recurring league; late entries."""

from django.db import migrations, models

from league.service.migrating import AddIndexMeanwhile


class Migration(migrations.Migration):

    atomic = False
    dependencies = [
        ('league', '0018_classes'),
    ]

    operations = [
        migrations.AddField(
            model_name='player',
            name='calendar_link',
            field=models.CharField(blank=True, db_default='', default='', max_length=40),
        ),
        migrations.AddField(
            model_name='circuit',
            name='fill',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='entry',
            name='since',
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        AddIndexMeanwhile("event", models.Index(condition=models.Q(due__isnull=False), fields=["due"], name="event_by_due")),
    ]
