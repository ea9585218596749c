"""Webhooks of players, and their deliveries."""

import django.db.models.deletion
from django.db import migrations, models

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')


class Migration(migrations.Migration):

    dependencies = [('league', '0007_open_data')]

    operations = [
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', ID),
                ('url', models.CharField(max_length=500)),
                ('secret', models.CharField(max_length=64)),
                ('events', models.JSONField(default=list)),
                ('created', models.DateTimeField()),
                ('seen', models.BigIntegerField()),
                ('failures', models.PositiveSmallIntegerField(default=0)),
                ('off', models.DateTimeField(null=True)),
                (
                    'player',
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='league.player'
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', ID.clone()),
                ('key', models.CharField(max_length=32, unique=True)),
                ('event', models.CharField(max_length=40)),
                ('body', models.TextField()),
                ('created', models.DateTimeField()),
                ('due', models.DateTimeField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('problem', models.CharField(blank=True, default='', max_length=200)),
                ('delivered', models.DateTimeField(null=True)),
                (
                    'webhook',
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='league.webhook'
                    ),
                ),
            ],
            options={
                'indexes': [
                    models.Index(
                        condition=models.Q(('due__isnull', False)), fields=['due', 'webhook'], name='delivery_due'
                    ),
                    models.Index(fields=['created'], name='delivery_age'),
                ],
            },
        ),
    ]
