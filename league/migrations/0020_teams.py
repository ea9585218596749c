"""Teams with members; who else counts as an owner of a bot; offers to hand a bot on; who uploaded a version for the owner."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0019_calendar'),
    ]

    operations = [
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=40, unique=True)),
                ('created', models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name='botversion',
            name='uploader',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='uploads', to='league.player'),
        ),
        migrations.CreateModel(
            name='BotOffer',
            fields=[
                ('bot', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='offer', serialize=False, to='league.bot')),
                ('created', models.DateTimeField()),
                ('receiver', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='offers', to='league.player')),
            ],
        ),
        migrations.AddField(
            model_name='bot',
            name='team',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='bots', to='league.team'),
        ),
        migrations.CreateModel(
            name='CoOwner',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('until', models.DateTimeField(null=True)),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='co_owners', to='league.bot')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='co_owned', to='league.player')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('until__isnull', False)), fields=['until'], name='co_owner_former')],
                'constraints': [models.UniqueConstraint(fields=('bot', 'player'), name='co_owner_once')],
            },
        ),
        migrations.CreateModel(
            name='TeamMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('owner', 'owner'), ('uploader', 'uploader'), ('reader', 'reader')], max_length=10)),
                ('invited', models.DateTimeField()),
                ('since', models.DateTimeField(null=True)),
                ('shown', models.BooleanField(db_default=False, default=False)),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='league.player')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='league.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'player'), name='team_member_once'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'uploader', 'reader'])), name='member_role_word')],
            },
        ),
    ]
