from django.db import migrations, models

from league.service.migrating import AddConstraintUnchecked


class Migration(migrations.Migration):

    dependencies = [
        ('league', '0029_releases'),
    ]

    operations = [
        migrations.AddField(
            model_name='audit',
            name='closed',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='audit',
            name='closed_by',
            field=models.CharField(blank=True, db_default='', max_length=80),
        ),
        migrations.AddField(
            model_name='audit',
            name='conclusion',
            field=models.CharField(blank=True, choices=[('honest', 'an honest difference'), ('bent', 'not played by the bot alone'), ('unclear', 'not explained')], db_default='', max_length=10),
        ),
        migrations.AddField(
            model_name='audit',
            name='why',
            field=models.TextField(blank=True, db_default=''),
        ),
        migrations.AlterField(
            model_name='check',
            name='name',
            field=models.CharField(choices=[('boards', 'whole boards'), ('start', 'start'), ('awkward', 'rare decisions'), ('long', 'a long match'), ('cancelled', 'a match that is broken off'), ('repeated', 'the same questions again')], max_length=12),
        ),
        AddConstraintUnchecked(
            model_name='audit',
            constraint=models.CheckConstraint(condition=models.Q(('conclusion__in', ['honest', 'bent', 'unclear', ''])), name='audit_conclusion_word'),
        ),
        migrations.RemoveConstraint(
            model_name='check',
            name='check_name_word',
        ),
        AddConstraintUnchecked(
            model_name='check',
            constraint=models.CheckConstraint(condition=models.Q(('name__in', ['boards', 'start', 'awkward', 'long', 'cancelled', 'repeated'])), name='check_name_word'),
        ),
    ]
