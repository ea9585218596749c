from django.db import migrations

from league.service.migrating import CheckOldRows


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0026_words'),
    ]

    operations = [
        CheckOldRows('audit', 'audit_reason_word'),
        CheckOldRows('audit', 'audit_verdict_word'),
        CheckOldRows('bot', 'bot_state_word'),
        CheckOldRows('botversion', 'version_status_word'),
        CheckOldRows('botversion', 'version_fault_word'),
        CheckOldRows('check', 'check_name_word'),
        CheckOldRows('check', 'check_fault_word'),
        CheckOldRows('event', 'event_status_word'),
        CheckOldRows('match', 'match_kind_word'),
        CheckOldRows('match', 'match_status_word'),
        CheckOldRows('party', 'party_fault_word'),
        CheckOldRows('sitting', 'sitting_fault_word'),
        CheckOldRows('tournament', 'tournament_status_word'),
        CheckOldRows('tournament', 'tournament_seeding_word'),
        CheckOldRows('tournament', 'tournament_ending_word'),
    ]
