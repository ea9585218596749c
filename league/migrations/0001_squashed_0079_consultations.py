"""The tables of commit 215356c0, which 79 migrations made; in an empty database those of this release, in one step.

A database that has taken all of the 79 has these tables: `migrate` only notes it down. One that has taken fewer is refused;
see league/management/commands/migrate.py.
"""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import league.enums
from league.service.migrating import FirstMigration, RunOnPostgres

REPLACED = """
0001_initial
0002_rating_sums
0003_field_score
0004_formats
0005_health_and_turns
0006_events_and_seasons
0007_schedules
0008_format_choices
0009_taken_names
0010_checks
0011_broken_off
0012_most_time
0013_audits
0014_slow_lane
0015_sealed
0016_uncounted
0017_answer_location
0018_replay_digest
0019_token_scopes
0020_processes
0021_fair_turns
0022_places_in_line
0023_quotas
0024_worker_disk
0025_secret_of_a_lease
0026_words
0027_words_of_old_rows
0028_pauses
0029_releases
0030_cases
0031_cases_of_old_rows
0032_ratings_revision
0033_operators
0034_acts_of_operators
0035_sums_as_rows
0036_requests
0037_right_of_audits
0038_consent
0039_consent_of_old_rows
0040_challenges
0041_challenges_of_old_rows
0042_session_owners
0043_requests_end
0044_match_logs
0045_ratings_in_stages
0046_replays_kept
0047_one_index_each
0048_ready_matches
0049_ready_index
0050_listed
0051_changes
0052_fewer_indexes
0053_match_struck
0054_standing_ladders
0055_standing_ladders_of_old_rows
0056_decided
0057_judgements
0058_tables_of_days
0059_shown_indexes
0060_tries
0061_tries_of_old_rows
0062_try_at
0063_judged_sums
0064_judgement_unsummed
0065_events_held_back
0066_tables
0067_puzzle_answers
0068_audience_word
0069_audience_of_old_rows
0070_event_due
0071_played_sums
0072_played_indexes
0073_subscriptions
0074_league_puzzles
0075_league_puzzles_of_old_rows
0076_party_style
0077_table_advice
0078_match_ages
0079_consultations
"""

# What Django has no words for. Each of these has a twin only in PostgreSQL: SQLite has no roles, no compression of columns and no autovacuum.
POSTGRESQL = (
    # The role of the workers may call these functions and not read the columns (docker/grant_roles.py): the secret of a match or a table is for
    # the process that holds its lease. `status || ''` hides the status from the planner: where many matches have been leased since it counted
    # them last, it would expect none and read all that are leased, running or finished, in place of the one with this id.
    """
CREATE OR REPLACE FUNCTION league_secret_of_lease(held bigint, lease integer) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT secret FROM league_match WHERE id = held AND token = lease AND status || '' IN ('leased', 'running')
$$;
REVOKE ALL ON FUNCTION league_secret_of_lease(bigint, integer) FROM PUBLIC;
""",
    """
CREATE OR REPLACE FUNCTION league_secret_of_table(held bigint, lease integer) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT secret FROM league_table WHERE id = held AND token = lease AND status = 'held'
$$;
REVOKE ALL ON FUNCTION league_secret_of_table(bigint, integer) FROM PUBLIC;
""",
    # Logs are compressed before they are stored
    "ALTER TABLE league_matchlog ALTER COLUMN data SET STORAGE EXTERNAL",
    # A heartbeat changes no indexed column. With room on its page the new row stays there, and no index is written. The default of autovacuum,
    # a fifth of a table of millions, is too late: claims would pass over many dead rows of the queue.
    """
ALTER TABLE league_match SET (
    fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000
)
""",
    "ALTER TABLE league_worker SET (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.2)",
)


def tend(apps: Any, editor: Any) -> None:
    """Add what only PostgreSQL has; make no index for the beginnings of addresses of matches, which are always given whole."""
    editor.deferred_sql = [statement for statement in editor.deferred_sql if not for_beginnings(statement)]
    for statement in POSTGRESQL:
        editor.execute(statement, None)


def for_beginnings(statement: Any) -> bool:
    """Return True for the index that Django adds to a unique text, of the addresses of matches."""
    return statement.references_column("league_match", "public_id") and "varchar_pattern_ops" in str(statement)


class Migration(FirstMigration):

    initial = True

    replaces = [("league", name) for name in REPLACED.split()]

    dependencies = [
        ('sessions', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Player',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=40, unique=True)),
                ('created', models.DateTimeField()),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='player', to=settings.AUTH_USER_MODEL)),
                ('banned', models.DateTimeField(null=True)),
                ('banned_for', models.TextField(blank=True, db_default='', default='')),
                ('banned_until', models.DateTimeField(null=True)),
            ],
            options={
                'permissions': [('void', 'void'), ('rerun', 'rerun'), ('pause', 'pause'), ('ban', 'ban'), ('quota', 'quota'), ('embargo', 'embargo'), ('audit', 'audit')],
            },
        ),
        migrations.CreateModel(
            name='Bot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=40, unique=True)),
                ('state', models.CharField(choices=[('active', 'active'), ('paused', 'paused'), ('retired', 'retired')], default='active', max_length=10)),
                ('description', models.TextField(blank=True)),
                ('is_house', models.BooleanField(default=False)),
                ('created', models.DateTimeField()),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bots', to='league.player')),
                ('paused_for', models.TextField(blank=True)),
                ('retest_at', models.DateTimeField(null=True)),
                ('retests', models.PositiveSmallIntegerField(default=0)),
                ('held_at', models.DateTimeField(null=True)),
                ('held_until', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64, unique=True)),
                ('game', models.CharField(max_length=30)),
                ('players', models.PositiveSmallIntegerField()),
                ('options', models.JSONField(default=dict)),
                ('team', models.CharField(max_length=10)),
                ('revision', models.PositiveIntegerField()),
                ('ratings_revision', models.PositiveSmallIntegerField(null=True)),
                ('revised', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['game'], name='league_pool_game_a7ba4d_idx')],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('name', models.CharField(max_length=80)),
                ('document', models.JSONField()),
                ('status', models.CharField(choices=[('open', 'open'), ('running', 'running'), ('finished', 'finished'), ('cancelled', 'cancelled')], default='running', max_length=10)),
                ('secret', models.BinaryField(max_length=32)),
                ('secret_sha256', models.CharField(max_length=64)),
                ('created', models.DateTimeField()),
                ('finished', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='league.player')),
                ('embargo', models.DateTimeField(null=True)),
                ('secret_after', models.DateTimeField(null=True)),
                ('audience', models.CharField(choices=[('public', 'everyone'), ('entrants', 'participants'), ('hidden', 'only the owner and operators')], db_default='public', default='public', max_length=10)),
                ('invitation', models.CharField(blank=True, db_default='', default='', max_length=40)),
                ('opens', models.DateTimeField(null=True)),
                ('pace_s', models.PositiveIntegerField(db_default=0, default=0)),
                ('private', models.BooleanField(db_default=False, default=False)),
                ('release', models.DateTimeField(null=True)),
                ('shown_from', models.DateTimeField(null=True)),
                ('due', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['open', 'running', 'finished', 'cancelled'])), name='event_status_word'), models.CheckConstraint(condition=models.Q(('audience__in', ['public', 'entrants', 'hidden'])), name='event_audience_word')],
            },
        ),
        migrations.CreateModel(
            name='Circuit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('game', models.CharField(max_length=30)),
                ('players', models.PositiveIntegerField(null=True)),
                ('options', models.JSONField(default=dict)),
                ('format', models.CharField(choices=league.enums.format_choices, default='round_robin', max_length=20)),
                ('parameters', models.JSONField(default=dict)),
                ('boards', models.PositiveIntegerField(null=True)),
                ('size', models.PositiveIntegerField(default=8)),
                ('moves', models.PositiveIntegerField(default=2)),
                ('days', models.CharField(max_length=80)),
                ('at', models.CharField(max_length=5)),
                ('time_zone', models.CharField(max_length=60)),
                ('active', models.BooleanField(default=True)),
                ('created', models.DateTimeField()),
                ('bots', models.ManyToManyField(related_name='circuits', to='league.bot')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='circuits', to='league.player')),
            ],
        ),
        migrations.CreateModel(
            name='Season',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('due', models.DateTimeField()),
                ('opened', models.DateTimeField()),
                ('reason', models.TextField(blank=True)),
                ('circuit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seasons', to='league.circuit')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('circuit', 'number'), name='season_number_once'), models.UniqueConstraint(fields=('circuit', 'due'), name='season_due_once')],
            },
        ),
        migrations.CreateModel(
            name='Tournament',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('name', models.CharField(max_length=80)),
                ('format', models.CharField(choices=league.enums.format_choices, default='round_robin', max_length=20)),
                ('boards', models.PositiveIntegerField()),
                ('status', models.CharField(choices=[('open', 'open'), ('running', 'running'), ('finished', 'finished'), ('cancelled', 'cancelled')], default='open', max_length=10)),
                ('secret', models.BinaryField(max_length=32)),
                ('secret_sha256', models.CharField(max_length=64)),
                ('limits', models.JSONField(default=dict)),
                ('created', models.DateTimeField()),
                ('started', models.DateTimeField(null=True)),
                ('finished', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tournaments', to='league.player')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tournaments', to='league.pool')),
                ('ending', models.CharField(blank=True, choices=[('settled', 'the winner is clear'), ('co_champions', 'co-champions: still level at the maximum number of boards'), ('cap', 'the maximum number of boards is reached'), ('stronger', 'the test accepts that the challenger is stronger'), ('not_stronger', 'the test rejects that the challenger is stronger'), ('budget', 'all planned boards are played'), ('closed', 'ended by its owner')], max_length=20)),
                ('facts', models.JSONField(default=dict)),
                ('parameters', models.JSONField(default=dict)),
                ('seeding', models.CharField(choices=[('rating', 'by rating'), ('entry', 'by order of entry')], default='rating', max_length=10)),
                ('group', models.PositiveIntegerField(null=True)),
                ('stage', models.PositiveIntegerField(null=True)),
                ('event', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tournaments', to='league.event')),
                ('season', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tournaments', to='league.season')),
                ('schedule', models.PositiveSmallIntegerField(default=1)),
                ('sealed', models.BooleanField(default=False)),
                ('booked_boards', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('planned_matches', models.PositiveIntegerField(db_default=0, default=0)),
                ('paused', models.DateTimeField(null=True)),
                ('embargo', models.DateTimeField(null=True)),
                ('secret_after', models.DateTimeField(null=True)),
                ('stopped', models.DateTimeField(null=True)),
                ('stopped_for', models.TextField(blank=True, db_default='', default='')),
                ('request', models.CharField(blank=True, db_default='', default='', max_length=64)),
                ('opens', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('event', 'stage', 'group'), name='stage_once'), models.UniqueConstraint(fields=('season', 'group'), name='division_once'), models.CheckConstraint(condition=models.Q(('status__in', ['open', 'running', 'finished', 'cancelled'])), name='tournament_status_word'), models.CheckConstraint(condition=models.Q(('seeding__in', ['rating', 'entry'])), name='tournament_seeding_word'), models.CheckConstraint(condition=models.Q(('ending__in', ['settled', 'co_champions', 'cap', 'stronger', 'not_stronger', 'budget', 'closed', ''])), name='tournament_ending_word')],
            },
        ),
        migrations.CreateModel(
            name='Round',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('tournament', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rounds', to='league.tournament')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tournament', 'number'), name='round_once')],
            },
        ),
        migrations.CreateModel(
            name='Match',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(max_length=12, unique=True)),
                ('kind', models.CharField(choices=[('tournament', 'tournament'), ('validation', 'validation'), ('challenge', 'unrated challenge'), ('ladder', 'standing ladder'), ('try', 'try'), ('audit', 'audit')], max_length=12)),
                ('key', models.CharField(max_length=120, unique=True)),
                ('table', models.CharField(max_length=120)),
                ('secret', models.BinaryField(max_length=32)),
                ('boards_planned', models.PositiveIntegerField()),
                ('rated', models.BooleanField(default=True)),
                ('limits', models.JSONField(default=dict)),
                ('priority', models.SmallIntegerField(default=0)),
                ('status', models.CharField(choices=[('queued', 'queued'), ('leased', 'assigned'), ('running', 'running'), ('finished', 'finished'), ('void', 'void'), ('cancelled', 'cancelled')], default='queued', max_length=10)),
                ('token', models.PositiveIntegerField(default=0)),
                ('worker', models.CharField(blank=True, max_length=80)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('not_before', models.DateTimeField(null=True)),
                ('reason', models.TextField(blank=True)),
                ('progress', models.PositiveSmallIntegerField(default=0)),
                ('host', models.JSONField(default=dict)),
                ('created', models.DateTimeField()),
                ('started', models.DateTimeField(null=True)),
                ('finished', models.DateTimeField(null=True)),
                ('counted', models.DateTimeField(null=True)),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='matches', to='league.pool')),
                ('round', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='matches', to='league.round')),
                ('tournament', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='matches', to='league.tournament')),
                ('first_board', models.PositiveIntegerField(default=1)),
                ('turn', models.PositiveIntegerField(default=0)),
                ('avoid', models.CharField(blank=True, max_length=80)),
                ('ends_by', models.DateTimeField(null=True)),
                ('drawn', models.DateTimeField(null=True)),
                ('gave_way', models.PositiveSmallIntegerField(default=0)),
                ('slow', models.BooleanField(default=False)),
                ('expected_s', models.FloatField(db_default=1.0, default=1.0)),
                ('owner', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.player')),
                ('virtual_s', models.FloatField(db_default=0.0, default=0.0)),
                ('embargo', models.DateTimeField(null=True)),
                ('request', models.CharField(blank=True, db_default='', default='', max_length=64)),
                ('held_back', models.BooleanField(db_default=False, default=False)),
                ('decided', models.JSONField(null=True)),
                ('summed', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'finished')), fields=['pool', 'finished'], name='match_of_pool'), models.Index(fields=['tournament', 'status'], name='match_tournament'), models.Index(fields=['-finished', '-id'], name='match_latest'), models.Index(fields=['status', '-priority', 'turn', 'id'], name='match_turn'), models.Index(condition=models.Q(('drawn', None), ('status', 'finished')), fields=['finished'], name='match_undrawn'), models.Index(condition=models.Q(('counted', None), ('rated', True), ('status', 'finished')), fields=['pool', 'finished'], name='match_uncounted'), models.Index(fields=['status', '-priority', 'virtual_s', 'id'], name='match_line'), models.Index(condition=models.Q(('status', 'queued')), fields=['owner', 'priority', 'turn', 'id'], name='match_of_owner'), models.Index(condition=models.Q(('status__in', ['leased', 'running', 'finished'])), fields=['owner', 'priority', '-virtual_s'], name='match_served'), models.Index(condition=models.Q(('held_back', False), ('status', 'queued')), fields=['-priority', 'virtual_s', 'id'], name='match_ready'), models.Index(condition=models.Q(('slow', True), ('status', 'queued')), fields=['id'], name='match_slow'), models.Index(condition=models.Q(models.Q(('status', 'void'), models.Q(('rated', False), ('status', 'finished')), _connector='OR'), ('counted__isnull', False)), fields=['pool'], name='match_struck'), models.Index(condition=models.Q(('rated', True), ('status', 'finished'), ('summed', False)), fields=['-id'], name='match_unsummed'), models.Index(condition=models.Q(models.Q(('status', 'void'), models.Q(('rated', False), ('status', 'finished')), _connector='OR'), ('summed', True)), fields=['id'], name='match_to_take_out'), models.Index(fields=['pool', '-id'], name='match_age_in_pool'), models.Index(fields=['tournament', '-id'], name='match_age_in_tournament')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['void', 'cancelled']), _negated=True), fields=('tournament', 'table', 'first_board'), name='deal_once'), models.CheckConstraint(condition=models.Q(('status__in', ['queued', 'leased', 'running', 'finished', 'void', 'cancelled'])), name='match_status_word'), models.CheckConstraint(condition=models.Q(('kind__in', ['tournament', 'validation', 'challenge', 'ladder', 'try', 'audit'])), name='match_kind_word')],
            },
        ),
        migrations.CreateModel(
            name='Package',
            fields=[
                ('sha256', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('data', models.BinaryField()),
                ('size', models.PositiveIntegerField()),
                ('files', models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='BotVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('runtime', models.CharField(max_length=20)),
                ('entry', models.CharField(max_length=120)),
                ('games', models.JSONField(default=list)),
                ('status', models.CharField(choices=[('validating', 'validating'), ('accepted', 'accepted'), ('rejected', 'rejected')], default='validating', max_length=12)),
                ('fault', models.CharField(blank=True, choices=[('crash', 'crash'), ('timeout', 'timeout'), ('start_timeout', 'start timeout'), ('memory', 'memory limit'), ('output_flood', 'output flood'), ('protocol', 'protocol error'), ('illegal_action', 'illegal action'), ('pondering', 'pondering'), ('disconnect', 'disconnect'), ('unplayable', 'unplayable'), ('infrastructure', 'infrastructure')], max_length=20)),
                ('fault_detail', models.TextField(blank=True)),
                ('created', models.DateTimeField()),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='league.bot')),
                ('package', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='league.package')),
                ('refused', models.JSONField(default=list)),
                ('deterministic', models.BooleanField(default=False)),
                ('sealable', models.BooleanField(default=True)),
                ('entered', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('entered', None), ('status', 'accepted')), fields=['id'], name='version_to_enter')],
                'constraints': [models.UniqueConstraint(fields=('bot', 'number'), name='version_number_once'), models.CheckConstraint(condition=models.Q(('status__in', ['validating', 'accepted', 'rejected'])), name='version_status_word'), models.CheckConstraint(condition=models.Q(('fault__in', ['crash', 'timeout', 'start_timeout', 'memory', 'output_flood', 'protocol', 'illegal_action', 'pondering', 'disconnect', 'unplayable', 'infrastructure', ''])), name='version_fault_word')],
            },
        ),
        migrations.CreateModel(
            name='LeagueEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(max_length=40)),
                ('subject', models.CharField(max_length=80)),
                ('actor', models.CharField(blank=True, max_length=80)),
                ('data', models.JSONField(default=dict)),
            ],
            options={
                'indexes': [models.Index(fields=['subject', 'id'], name='event_subject'), models.Index(condition=models.Q(('kind', 'operator.acted')), fields=['id'], name='event_operators')],
            },
        ),
        migrations.CreateModel(
            name='Board',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('scores', models.JSONField()),
                ('match', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='boards', to='league.match')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('match', 'number'), name='board_once')],
            },
        ),
        migrations.CreateModel(
            name='Party',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('points', models.IntegerField(null=True)),
                ('wins', models.PositiveIntegerField(null=True)),
                ('draws', models.PositiveIntegerField(null=True)),
                ('losses', models.PositiveIntegerField(null=True)),
                ('fault', models.CharField(blank=True, choices=[('crash', 'crash'), ('timeout', 'timeout'), ('start_timeout', 'start timeout'), ('memory', 'memory limit'), ('output_flood', 'output flood'), ('protocol', 'protocol error'), ('illegal_action', 'illegal action'), ('pondering', 'pondering'), ('disconnect', 'disconnect'), ('unplayable', 'unplayable'), ('infrastructure', 'infrastructure')], max_length=20)),
                ('fault_detail', models.TextField(blank=True)),
                ('fault_at', models.JSONField(null=True)),
                ('faults', models.JSONField(default=list)),
                ('stderr', models.TextField(blank=True)),
                ('cpu_s', models.FloatField(null=True)),
                ('wall_s', models.FloatField(null=True)),
                ('max_cpu_s', models.FloatField(null=True)),
                ('decisions', models.PositiveIntegerField(null=True)),
                ('match', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='parties', to='league.match')),
                ('version', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='parties', to='league.botversion')),
                ('broken_off', models.JSONField(default=list)),
                ('sealed', models.BooleanField(null=True)),
                ('style', models.JSONField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['version', '-match'], name='party_version')],
                'constraints': [models.UniqueConstraint(fields=('match', 'number'), name='party_once'), models.CheckConstraint(condition=models.Q(('fault__in', ['crash', 'timeout', 'start_timeout', 'memory', 'output_flood', 'protocol', 'illegal_action', 'pondering', 'disconnect', 'unplayable', 'infrastructure', ''])), name='party_fault_word')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=80)),
                ('request_sha256', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('answer', models.JSONField(null=True)),
                ('created', models.DateTimeField()),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='idempotency_keys', to='league.player')),
                ('location', models.CharField(blank=True, db_default='', default='', max_length=200)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('player', 'key'), name='idempotency_key_once')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(max_length=60)),
                ('prefix', models.CharField(max_length=8)),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('created', models.DateTimeField()),
                ('last_used', models.DateTimeField(null=True)),
                ('revoked', models.DateTimeField(null=True)),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='league.player')),
                ('expires', models.DateTimeField(null=True)),
                ('scope', models.CharField(choices=[('read', 'read: see what your account can see'), ('submit', 'submit: also upload bots, enter and withdraw them'), ('manage', 'manage: everything that you can do on the site')], db_default='manage', default='manage', max_length=10)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'submit', 'manage'])), name='token_scope_is_known')],
            },
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('elo', models.FloatField()),
                ('margin', models.FloatField()),
                ('boards', models.PositiveIntegerField()),
                ('opponents', models.PositiveIntegerField()),
                ('score', models.FloatField()),
                ('points_per_board', models.FloatField()),
                ('faults', models.PositiveIntegerField()),
                ('rank_best', models.PositiveIntegerField()),
                ('rank_worst', models.PositiveIntegerField()),
                ('los_next', models.FloatField(null=True)),
                ('provisional', models.BooleanField()),
                ('listed', models.BooleanField(default=True)),
                ('updated', models.DateTimeField()),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='league.pool')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='league.botversion')),
                ('field_score', models.FloatField(default=0.5)),
                ('field_sd', models.FloatField(default=0.5)),
                ('estimated', models.BooleanField(db_default=False, default=False)),
                ('played', models.DateTimeField(null=True)),
                ('idle', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'indexes': [models.Index(fields=['pool', '-elo'], name='rating_table'), models.Index(condition=models.Q(('listed', True)), fields=['pool', '-elo', 'version', 'provisional'], name='rating_listed'), models.Index(condition=models.Q(('idle', False), ('listed', True)), fields=['pool', '-elo', 'version'], name='rating_active')],
                'constraints': [models.UniqueConstraint(fields=('pool', 'version'), name='rating_once')],
            },
        ),
        migrations.CreateModel(
            name='RatingPoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('elo', models.FloatField()),
                ('margin', models.FloatField()),
                ('change', models.FloatField()),
                ('at', models.DateTimeField()),
                ('match', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rating_points', to='league.match')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='points', to='league.pool')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='points', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(fields=['version', 'at'], name='rating_history')],
                'constraints': [models.UniqueConstraint(fields=('match', 'version'), name='rating_point_once')],
            },
        ),
        migrations.CreateModel(
            name='Sitting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('seating', models.JSONField()),
                ('scores', models.JSONField()),
                ('fault', models.CharField(blank=True, choices=[('crash', 'crash'), ('timeout', 'timeout'), ('start_timeout', 'start timeout'), ('memory', 'memory limit'), ('output_flood', 'output flood'), ('protocol', 'protocol error'), ('illegal_action', 'illegal action'), ('pondering', 'pondering'), ('disconnect', 'disconnect'), ('unplayable', 'unplayable'), ('infrastructure', 'infrastructure')], max_length=20)),
                ('fault_party', models.PositiveSmallIntegerField(null=True)),
                ('replay', models.BinaryField(default=bytes)),
                ('board', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sittings', to='league.board')),
                ('digest', models.CharField(blank=True, db_default='', default='', max_length=64)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('board', 'number'), name='sitting_once'), models.CheckConstraint(condition=models.Q(('fault__in', ['crash', 'timeout', 'start_timeout', 'memory', 'output_flood', 'protocol', 'illegal_action', 'pondering', 'disconnect', 'unplayable', 'infrastructure', ''])), name='sitting_fault_word')],
            },
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='league.botversion')),
                ('tournament', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='league.tournament')),
                ('place', models.PositiveIntegerField(null=True)),
                ('seed', models.PositiveIntegerField(null=True)),
                ('withdrawn', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tournament', 'version'), name='entry_once'), models.UniqueConstraint(fields=('tournament', 'number'), name='entry_number_once')],
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80, unique=True)),
                ('tier', models.CharField(blank=True, max_length=20)),
                ('refusal', models.TextField(blank=True)),
                ('started', models.DateTimeField()),
                ('seen', models.DateTimeField()),
                ('match', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.match')),
                ('broker', models.TextField(blank=True, db_default='')),
                ('errors', models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict)),
                ('trouble', models.TextField(blank=True, db_default='')),
                ('free_mb', models.PositiveBigIntegerField(null=True)),
                ('commit', models.CharField(blank=True, db_default='', max_length=40)),
                ('rules', models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='PoolSums',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('data', models.BinaryField()),
                ('matches', models.PositiveIntegerField()),
                ('updated', models.DateTimeField()),
                ('pool', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='sums', to='league.pool')),
                ('stamp', models.PositiveBigIntegerField(db_default=0)),
                ('fitted', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('fitted_until', models.DateTimeField(null=True)),
                ('ranked', models.PositiveBigIntegerField(db_default=0, default=0)),
                ('ranked_until', models.DateTimeField(null=True)),
                ('keeper', models.CharField(blank=True, db_default='', default='', max_length=100)),
                ('keeper_until', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='TakenName',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=10)),
                ('skeleton', models.CharField(max_length=400)),
                ('name', models.CharField(max_length=120)),
                ('holder', models.CharField(max_length=80)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('kind', 'skeleton'), name='name_once')],
            },
        ),
        migrations.CreateModel(
            name='Check',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('game', models.CharField(max_length=40)),
                ('name', models.CharField(choices=[('boards', 'whole boards'), ('start', 'start'), ('awkward', 'rare decisions'), ('long', 'a long match'), ('cancelled', 'an interrupted match'), ('repeated', 'repeated requests')], max_length=12)),
                ('fault', models.CharField(blank=True, choices=[('crash', 'crash'), ('timeout', 'timeout'), ('start_timeout', 'start timeout'), ('memory', 'memory limit'), ('output_flood', 'output flood'), ('protocol', 'protocol error'), ('illegal_action', 'illegal action'), ('pondering', 'pondering'), ('disconnect', 'disconnect'), ('unplayable', 'unplayable'), ('infrastructure', 'infrastructure')], max_length=20)),
                ('fault_detail', models.TextField(blank=True)),
                ('situation', models.CharField(blank=True, max_length=200)),
                ('request', models.TextField(blank=True)),
                ('answer', models.TextField(blank=True)),
                ('decisions', models.PositiveIntegerField(default=0)),
                ('max_cpu_s', models.FloatField(default=0.0)),
                ('seconds', models.FloatField(default=0.0)),
                ('match', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checks', to='league.match')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checks', to='league.botversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('match', 'game', 'name'), name='check_once'), models.CheckConstraint(condition=models.Q(('fault__in', ['crash', 'timeout', 'start_timeout', 'memory', 'output_flood', 'protocol', 'illegal_action', 'pondering', 'disconnect', 'unplayable', 'infrastructure', ''])), name='check_fault_word'), models.CheckConstraint(condition=models.Q(('name__in', ['boards', 'start', 'awkward', 'long', 'cancelled', 'repeated'])), name='check_name_word')],
            },
        ),
        migrations.CreateModel(
            name='Audit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sitting', models.PositiveSmallIntegerField()),
                ('seat', models.PositiveSmallIntegerField()),
                ('reason', models.CharField(choices=[('sample', 'sample'), ('rise', 'rising bot'), ('final', 'final')], max_length=10)),
                ('verdict', models.CharField(blank=True, choices=[('same', 'the same answers'), ('alike', 'differs no more than two runs of the bot'), ('differs', 'differs'), ('failed', 'failed when repeated')], max_length=10)),
                ('decisions', models.PositiveIntegerField(default=0)),
                ('log_odd', models.PositiveIntegerField(default=0)),
                ('run_odd', models.PositiveIntegerField(default=0)),
                ('all_differ', models.PositiveIntegerField(default=0)),
                ('chance', models.FloatField(null=True)),
                ('first', models.JSONField(null=True)),
                ('fault', models.CharField(blank=True, max_length=20)),
                ('fault_detail', models.TextField(blank=True)),
                ('created', models.DateTimeField()),
                ('finished', models.DateTimeField(null=True)),
                ('match', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audits', to='league.match')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audits', to='league.botversion')),
                ('work', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='audit', to='league.match')),
                ('closed', models.DateTimeField(null=True)),
                ('closed_by', models.CharField(blank=True, db_default='', max_length=80)),
                ('conclusion', models.CharField(blank=True, choices=[('honest', 'harmless difference'), ('bent', 'outside help suspected'), ('unclear', 'unexplained')], db_default='', max_length=10)),
                ('why', models.TextField(blank=True, db_default='')),
            ],
            options={
                'indexes': [models.Index(fields=['version', 'verdict'], name='audit_of_version'), models.Index(condition=models.Q(('verdict', 'differs')), fields=['-finished'], name='audit_cases')],
                'constraints': [models.UniqueConstraint(fields=('match', 'sitting', 'seat'), name='audit_once'), models.CheckConstraint(condition=models.Q(('reason__in', ['sample', 'rise', 'final'])), name='audit_reason_word'), models.CheckConstraint(condition=models.Q(('verdict__in', ['same', 'alike', 'differs', 'failed', ''])), name='audit_verdict_word'), models.CheckConstraint(condition=models.Q(('conclusion__in', ['honest', 'bent', 'unclear', ''])), name='audit_conclusion_word')],
            },
        ),
        migrations.CreateModel(
            name='Scheduler',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80, unique=True)),
                ('started', models.DateTimeField()),
                ('seen', models.DateTimeField()),
                ('errors', models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict)),
                ('trouble', models.TextField(blank=True, db_default='')),
                ('broker', models.TextField(blank=True, db_default='')),
                ('commit', models.CharField(blank=True, db_default='', max_length=40)),
            ],
            options={
                'abstract': False,
            },
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
        migrations.CreateModel(
            name='BoardSums',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('wins', models.BigIntegerField()),
                ('draws', models.BigIntegerField(default=0)),
                ('losses', models.BigIntegerField(default=0)),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.pool')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('pool', 'key'), name='board_sums_once')],
            },
        ),
        migrations.CreateModel(
            name='BotSums',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('boards', models.BigIntegerField()),
                ('points', models.BigIntegerField()),
                ('half_points', models.BigIntegerField()),
                ('meetings', models.BigIntegerField()),
                ('faults', models.BigIntegerField()),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.pool')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('pool', 'version'), name='bot_sums_once')],
            },
        ),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created', models.DateTimeField()),
                ('blocked', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.player')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='league.player')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'blocked'), name='block_once'), models.CheckConstraint(condition=models.Q(('owner', models.F('blocked')), _negated=True), name='block_of_another')],
            },
        ),
        migrations.CreateModel(
            name='EntryRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message', models.CharField(blank=True, max_length=300)),
                ('status', models.CharField(choices=[('asked', 'waiting for the owner'), ('granted', 'granted'), ('refused', 'refused'), ('withdrawn', 'withdrawn'), ('expired', 'expired')], default='asked', max_length=10)),
                ('created', models.DateTimeField()),
                ('answered', models.DateTimeField(null=True)),
                ('asker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='league.player')),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='league.bot')),
                ('circuit', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='league.circuit')),
                ('event', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='league.event')),
                ('tournament', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='league.tournament')),
                ('version', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(fields=['asker', 'created'], name='request_asked'), models.Index(condition=models.Q(('status', 'asked')), fields=['created'], name='request_open')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['asked', 'granted', 'refused', 'withdrawn', 'expired'])), name='request_status_word'), models.CheckConstraint(condition=models.Q(models.Q(('circuit', None), ('event', None), ('tournament__isnull', False)), models.Q(('circuit', None), ('event__isnull', False), ('tournament', None)), models.Q(('circuit__isnull', False), ('event', None), ('tournament', None)), _connector='OR'), name='request_is_for_one'), models.UniqueConstraint(condition=models.Q(('status__in', ['asked', 'granted', 'refused'])), fields=('bot', 'tournament'), name='request_tournament_once'), models.UniqueConstraint(condition=models.Q(('status__in', ['asked', 'granted', 'refused'])), fields=('bot', 'event'), name='request_event_once'), models.UniqueConstraint(condition=models.Q(('status__in', ['asked', 'granted', 'refused'])), fields=('bot', 'circuit'), name='request_circuit_once')],
            },
        ),
        migrations.CreateModel(
            name='SessionOwner',
            fields=[
                ('session', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='owner', serialize=False, to='sessions.session')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='LogDictionary',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('data', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='MatchLog',
            fields=[
                ('match', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='log', serialize=False, to='league.match')),
                ('data', models.BinaryField()),
                ('digest', models.CharField(max_length=64)),
                ('dictionary', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='league.logdictionary')),
                ('let_go', models.DateTimeField(null=True)),
                ('until', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('let_go', None), ('until__isnull', False)), fields=['until'], name='log_until')],
            },
        ),
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
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=40)),
                ('number', models.BigIntegerField()),
            ],
            options={
                'indexes': [models.Index(fields=['key'], name='change_key')],
            },
        ),
        migrations.CreateModel(
            name='Lots',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('drawn', models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='Rung',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('game', models.CharField(max_length=30)),
                ('entered', models.DateTimeField()),
                ('due', models.DateTimeField()),
                ('placed', models.PositiveSmallIntegerField(default=0)),
                ('tied', models.BooleanField(default=False)),
                ('bot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rungs', to='league.bot')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rungs', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(fields=['placed', 'due'], name='rung_due')],
                'constraints': [models.UniqueConstraint(fields=('game', 'bot'), name='rung_once')],
            },
        ),
        migrations.CreateModel(
            name='Succession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('game', models.CharField(max_length=30)),
                ('won', models.PositiveIntegerField(default=0)),
                ('drawn', models.PositiveIntegerField(default=0)),
                ('lost', models.PositiveIntegerField(default=0)),
                ('llr', models.FloatField(default=0.0)),
                ('matches', models.PositiveIntegerField(default=0)),
                ('verdict', models.CharField(blank=True, choices=[('stronger', 'better than the previous version'), ('not_stronger', 'not better than the previous version'), ('cap', 'no difference found'), ('superseded', 'ended by a newer version')], max_length=20)),
                ('begun', models.DateTimeField()),
                ('decided', models.DateTimeField(null=True)),
                ('before', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='successions', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('verdict', '')), fields=['id'], name='succession_open')],
                'constraints': [models.UniqueConstraint(fields=('game', 'version'), name='succession_once'), models.CheckConstraint(condition=models.Q(('verdict__in', ['stronger', 'not_stronger', 'cap', 'superseded', ''])), name='succession_verdict_word')],
            },
        ),
        migrations.CreateModel(
            name='Judgement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('open', 'with open cards'), ('fair', 'with what the seat knew')], max_length=10)),
                ('judge', models.CharField(max_length=20)),
                ('samples', models.PositiveSmallIntegerField(default=0)),
                ('place', models.PositiveIntegerField(default=0)),
                ('created', models.DateTimeField()),
                ('status', models.CharField(choices=[('asked', 'queued'), ('working', 'running'), ('done', 'analysed'), ('failed', 'analysis failed')], default='asked', max_length=10)),
                ('token', models.PositiveIntegerField(default=0)),
                ('worker', models.CharField(blank=True, max_length=80)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('progress', models.PositiveSmallIntegerField(default=0)),
                ('reason', models.TextField(blank=True)),
                ('finished', models.DateTimeField(null=True)),
                ('cpu_s', models.FloatField(default=0.0)),
                ('decisions', models.PositiveIntegerField(default=0)),
                ('judged', models.PositiveIntegerField(default=0)),
                ('limited', models.BooleanField(default=False)),
                ('body', models.BinaryField(default=bytes)),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.player')),
                ('match', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='league.match')),
                ('summed', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status__in', ['asked', 'working'])), fields=['place', 'id'], name='judgement_waits'), models.Index(fields=['asked_by', 'created'], name='judgement_of_asker'), models.Index(condition=models.Q(('status', 'failed')), fields=['finished'], name='judgement_failed'), models.Index(condition=models.Q(('status', 'done'), ('summed', False)), fields=['id'], name='judgement_unsummed')],
                'constraints': [models.UniqueConstraint(fields=('match', 'kind', 'judge', 'samples'), name='judgement_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['open', 'fair'])), name='judgement_kind_word'), models.CheckConstraint(condition=models.Q(('status__in', ['asked', 'working', 'done', 'failed'])), name='judgement_status_word')],
            },
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
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='places', to='league.tableofday')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('rise__isnull', False)), fields=['table', '-rise'], name='place_risen')],
                'constraints': [models.UniqueConstraint(fields=('table', 'bot'), name='place_once')],
            },
        ),
        migrations.CreateModel(
            name='Try',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(blank=True, max_length=60)),
                ('source', models.TextField()),
                ('result', models.BinaryField(null=True)),
                ('created', models.DateTimeField()),
                ('finished', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tries', to='league.player')),
                ('rival', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
                ('work', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='tried', to='league.match')),
                ('at', models.JSONField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', '-created'], name='try_of_owner'), models.Index(fields=['created'], name='try_created')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('finished__isnull', True), ('result__isnull', True)), models.Q(('finished__isnull', False), ('result__isnull', False)), _connector='OR'), name='try_result_finished')],
            },
        ),
        migrations.CreateModel(
            name='JudgedSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('open', 'with open cards'), ('fair', 'with what the seat knew')], max_length=10)),
                ('judge', models.CharField(max_length=20)),
                ('phase', models.CharField(max_length=10)),
                ('boards', models.PositiveIntegerField(default=0)),
                ('decisions', models.PositiveIntegerField(default=0)),
                ('judged', models.PositiveIntegerField(default=0)),
                ('right', models.PositiveIntegerField(default=0)),
                ('lost', models.FloatField(default=0.0)),
                ('lost_lost', models.FloatField(default=0.0)),
                ('lost_judged', models.FloatField(default=0.0)),
                ('judged_judged', models.FloatField(default=0.0)),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.pool')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='judged_sums', to='league.botversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('version', 'pool', 'kind', 'judge', 'phase'), name='judged_sum_once'), models.UniqueConstraint(condition=models.Q(('version__isnull', True)), fields=('pool', 'kind', 'judge', 'phase'), name='judged_sum_of_pool'), models.CheckConstraint(condition=models.Q(('kind__in', ['open', 'fair'])), name='judgedsum_kind_word')],
            },
        ),
        migrations.CreateModel(
            name='Guest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created', models.DateTimeField()),
                ('event', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='guests', to='league.event')),
                ('player', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.player')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('event', 'player'), name='guest_once')],
            },
        ),
        migrations.CreateModel(
            name='Table',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(max_length=12, unique=True)),
                ('seat', models.PositiveSmallIntegerField(default=0)),
                ('boards', models.PositiveSmallIntegerField()),
                ('secret', models.BinaryField(max_length=32)),
                ('created', models.DateTimeField()),
                ('status', models.CharField(choices=[('waiting', 'waiting for a worker'), ('held', 'running'), ('resting', 'waiting for the player'), ('finished', 'finished'), ('left', 'left'), ('abandoned', 'abandoned'), ('void', 'void')], default='waiting', max_length=10)),
                ('token', models.PositiveIntegerField(default=0)),
                ('worker', models.CharField(blank=True, max_length=80)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('not_before', models.DateTimeField(null=True)),
                ('reason', models.TextField(blank=True)),
                ('finished', models.DateTimeField(null=True)),
                ('turn', models.PositiveIntegerField(null=True)),
                ('since', models.DateTimeField()),
                ('board', models.PositiveSmallIntegerField(default=1)),
                ('legal', models.JSONField(default=list)),
                ('hand', models.JSONField(default=list)),
                ('seen', models.JSONField(default=list)),
                ('scores', models.JSONField(default=list)),
                ('fault', models.CharField(blank=True, choices=[('crash', 'crash'), ('timeout', 'timeout'), ('start_timeout', 'start timeout'), ('memory', 'memory limit'), ('output_flood', 'output flood'), ('protocol', 'protocol error'), ('illegal_action', 'illegal action'), ('pondering', 'pondering'), ('disconnect', 'disconnect'), ('unplayable', 'unplayable'), ('infrastructure', 'infrastructure')], max_length=20)),
                ('records', models.BinaryField(default=bytes)),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tables', to='league.player')),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='league.pool')),
                ('advice', models.CharField(blank=True, db_default='', default='', max_length=400)),
                ('advice_asked', models.PositiveIntegerField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'waiting')), fields=['since', 'id'], name='table_waits'), models.Index(condition=models.Q(('status__in', ['waiting', 'held', 'resting'])), fields=['id'], name='table_live'), models.Index(fields=['player', '-created'], name='table_of_player')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['waiting', 'held', 'resting'])), fields=('player',), name='table_one_each'), models.CheckConstraint(condition=models.Q(('status__in', ['waiting', 'held', 'resting', 'finished', 'left', 'abandoned', 'void'])), name='table_status_word'), models.CheckConstraint(condition=models.Q(('fault__in', ['crash', 'timeout', 'start_timeout', 'memory', 'output_flood', 'protocol', 'illegal_action', 'pondering', 'disconnect', 'unplayable', 'infrastructure', ''])), name='table_fault_word')],
            },
        ),
        migrations.CreateModel(
            name='TableAction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('seat', models.PositiveSmallIntegerField()),
                ('action', models.CharField(max_length=40)),
                ('at', models.DateTimeField()),
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='actions', to='league.table')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('table', 'number'), name='table_action_once')],
            },
        ),
        migrations.CreateModel(
            name='TableSeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('table', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='league.table')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('table', 'number'), name='table_seat_once')],
            },
        ),
        migrations.CreateModel(
            name='PuzzleAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('puzzle', models.CharField(max_length=12)),
                ('game', models.CharField(max_length=30)),
                ('answer', models.CharField(max_length=80)),
                ('solved', models.BooleanField()),
                ('created', models.DateTimeField()),
                ('player', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='puzzle_answers', to='league.player')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('player', 'puzzle'), name='puzzle_answer_once')],
            },
        ),
        migrations.CreateModel(
            name='MatchStyle',
            fields=[
                ('match', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='style', serialize=False, to='league.match')),
                ('counts', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='MeetingSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('matches', models.PositiveIntegerField(default=0)),
                ('boards', models.PositiveIntegerField(default=0)),
                ('wins', models.PositiveIntegerField(default=0)),
                ('draws', models.PositiveIntegerField(default=0)),
                ('losses', models.PositiveIntegerField(default=0)),
                ('difference', models.BigIntegerField(default=0)),
                ('bot', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='meetings', to='league.bot')),
                ('opponent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.bot')),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.pool')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('bot', 'pool', 'opponent'), name='meeting_sum_once')],
            },
        ),
        migrations.CreateModel(
            name='PlayedSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('matches', models.PositiveIntegerField(default=0)),
                ('boards', models.PositiveIntegerField(default=0)),
                ('wins', models.PositiveIntegerField(default=0)),
                ('draws', models.PositiveIntegerField(default=0)),
                ('losses', models.PositiveIntegerField(default=0)),
                ('points', models.BigIntegerField(default=0)),
                ('faults', models.PositiveIntegerField(default=0)),
                ('places', models.PositiveBigIntegerField(default=0)),
                ('sung', models.PositiveBigIntegerField(default=0)),
                ('capotes', models.PositiveBigIntegerField(default=0)),
                ('leads', models.PositiveBigIntegerField(default=0)),
                ('trump_leads', models.PositiveBigIntegerField(default=0)),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.pool')),
                ('version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='played_sums', to='league.botversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('version', 'pool'), name='played_sum_once'), models.UniqueConstraint(condition=models.Q(('version__isnull', True)), fields=('pool',), name='played_sum_of_pool')],
            },
        ),
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('player', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='subscription', serialize=False, to='league.player')),
                ('address', models.CharField(max_length=254)),
                ('asked', models.DateTimeField(null=True)),
                ('confirmed', models.DateTimeField(null=True)),
                ('period', models.CharField(blank=True, choices=[('day', 'day'), ('week', 'week')], default='', max_length=10)),
                ('language', models.CharField(default='es', max_length=10)),
                ('site', models.CharField(blank=True, default='', max_length=200)),
                ('told', models.DateTimeField(null=True)),
                ('due', models.DateTimeField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('period', ''), _negated=True), fields=['due'], name='subscription_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('period__in', ['day', 'week', ''])), name='subscription_period_word')],
            },
        ),
        migrations.CreateModel(
            name='FoundPuzzle',
            fields=[
                ('puzzle', models.CharField(max_length=12, primary_key=True, serialize=False)),
                ('created', models.DateTimeField(db_index=True)),
                ('line', models.TextField()),
                ('match', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='puzzles', to='league.match')),
            ],
        ),
        migrations.CreateModel(
            name='PuzzleSearch',
            fields=[
                ('judgement', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='puzzle_search', serialize=False, to='league.judgement')),
                ('worker', models.CharField(blank=True, default='', max_length=80)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('made', models.PositiveSmallIntegerField(default=0)),
                ('finished', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('finished__isnull', True)), fields=['-judgement'], name='puzzle_search_waits')],
            },
        ),
        migrations.CreateModel(
            name='Consultation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveIntegerField(default=0)),
                ('created', models.DateTimeField()),
                ('token', models.PositiveIntegerField(default=0)),
                ('worker', models.CharField(blank=True, max_length=80)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('progress', models.PositiveSmallIntegerField(default=0)),
                ('reason', models.TextField(blank=True)),
                ('finished', models.DateTimeField(null=True)),
                ('cpu_s', models.FloatField(default=0.0)),
                ('limited', models.BooleanField(default=False)),
                ('board', models.PositiveIntegerField()),
                ('sitting', models.PositiveSmallIntegerField()),
                ('seat', models.PositiveSmallIntegerField()),
                ('status', models.CharField(choices=[('asked', 'queued'), ('working', 'running'), ('done', 'answered'), ('failed', 'failed')], default='asked', max_length=10)),
                ('compiled', models.BooleanField(default=False)),
                ('answers', models.JSONField(default=list)),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.player')),
                ('match', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='consultations', to='league.match')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='league.botversion')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status__in', ['asked', 'working'])), fields=['place', 'id'], name='consultation_waits'), models.Index(fields=['asked_by', 'created'], name='consultation_of_asker'), models.Index(condition=models.Q(('status', 'failed')), fields=['finished'], name='consultation_failed')],
                'constraints': [models.UniqueConstraint(fields=('match', 'board', 'sitting', 'seat', 'version'), name='consultation_once'), models.CheckConstraint(condition=models.Q(('status__in', ['asked', 'working', 'done', 'failed'])), name='consultation_status_word')],
            },
        ),
        migrations.AddField(
            model_name='bot',
            name='sends',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='league.botversion'),
        ),
        migrations.AddField(
            model_name='bot',
            name='owner_banned',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='bot',
            name='stopped',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='bot',
            name='stopped_for',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='bot',
            name='entry_policy',
            field=models.CharField(choices=[('usual', 'default: anyone in public leagues; with your permission in other rated events'), ('anybody', 'anyone'), ('ask', 'only with your permission'), ('nobody', 'nobody')], db_default='usual', default='usual', max_length=10),
        ),
        migrations.AddField(
            model_name='bot',
            name='on_ladders',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddIndex(
            model_name='bot',
            index=models.Index(condition=models.Q(('is_house', True)), fields=['id'], name='bot_of_house'),
        ),
        migrations.AddConstraint(
            model_name='bot',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['active', 'paused', 'retired'])), name='bot_state_word'),
        ),
        migrations.AddConstraint(
            model_name='bot',
            constraint=models.CheckConstraint(condition=models.Q(('entry_policy__in', ['usual', 'anybody', 'ask', 'nobody'])), name='bot_entry_policy_word'),
        ),
        RunOnPostgres(tend, RunOnPostgres.noop),
    ]
