"""The wrong answers that causes predict: for each kind of difference, a function that recognises it.

A function gets an observation and a violation in it, and says whether the violation is this wrong answer and no other.
Where the mechanism of a cause decides the answer, the function computes it and compares; it never says yes because a
trigger occurred. So a second fault that has the same trigger is new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.findings.predictions import (
    answers,
    bounds,
    casts,
    commits,
    constraint_texts,
    contents,
    crashes,
    definitions,
    empty_texts,
    empty_values,
    feeds,
    flags,
    lists,
    merges,
    moments,
    outcomes,
    passed_over,
    races,
    refusals,
    rewrites,
    rules,
    skipping,
    tombstones,
    zeros,
)
from conformance.observations.observation import Observation
from delta_adapters.deviations import Prediction
from delta_models.expressions import NotEvaluable
from delta_models.log import LogError
from delta_models.requirements import Violation
from delta_models.table import NotModelled

# A log that can't be read, a function that the model does not know, a column or a value that does not fit.
NOT_COMPUTABLE = (LogError, NotEvaluable, NotModelled, LookupError, ValueError, TypeError, ArithmeticError)

Difference = Callable[[Observation, Violation], bool]

DIFFERENCES: Mapping[str, Difference] = {
    "filter-sees-empty-text": answers.filter_sees_empty_text,
    "nan-read-as-the-bound": answers.nan_read_as_the_bound,
    "null-taken-for-true": answers.null_taken_for_true,
    "partition-columns-not-compared": answers.partition_columns_not_compared,
    "astral-characters-too-low": answers.astral_characters_too_low,
    "moment-wraps-around": answers.moment_wraps_around,
    "overflowed-moments-written": moments.overflowed_moments_written,
    "overflowed-moments-told": moments.overflowed_moments_told,
    "overflowed-moments-not-found": moments.overflowed_moments_not_found,
    "gap-dates-not-found": answers.gap_dates_not_found,
    "files-skipped-by-decimal-bounds": skipping.files_skipped_by_decimal_bounds,
    "decimals-read-as-the-bound": skipping.decimals_read_as_the_bound,
    "nan-left-out-of-maximum": bounds.nan_left_out_of_maximum,
    "decimal-bound-through-double": bounds.decimal_bound_through_double,
    "converted-bound-through-double": bounds.converted_bound_through_double,
    "bytes-of-a-cast-text": bounds.bytes_of_a_cast_text,
    "text-bound-of-replacement-characters": bounds.text_bound_of_replacement_characters,
    "changes-counted-as-files": commits.changes_counted_as_files,
    "deleted-rows-not-counted": commits.deleted_rows_not_counted,
    "change-rows-counted-as-copied": commits.change_rows_counted_as_copied,
    "compaction-without-nulls": commits.compaction_without_nulls,
    "no-checksum-at-all": commits.no_checksum_at_all,
    "no-checksum-of-a-large-commit": commits.no_checksum_of_a_large_commit,
    "protocol-of-the-definition-alone": commits.protocol_of_the_definition_alone,
    "variants-named-too": commits.variants_named_too,
    "variants-named-with-a-property": definitions.variants_named_with_a_property,
    "upgrade-names-the-feature-alone": definitions.upgrade_names_the_feature_alone,
    "capital-letters-beside-generated-columns": definitions.capital_letters_beside_generated_columns,
    "infinity-taken-for-a-column": definitions.infinity_taken_for_a_column,
    "not-null-forgotten": definitions.not_null_forgotten,
    "constraint-in-its-own-sql": constraint_texts.constraint_in_its_own_sql,
    "empty-values-let-in": empty_values.empty_values_let_in,
    "empty-values-refused": empty_values.empty_values_refused,
    "refused-for-an-empty-value": empty_values.refused_for_an_empty_value,
    "constraint-of-doubles": rules.constraint_of_doubles,
    "rows-of-nulls-validated": rules.rows_of_nulls_validated,
    "feed-where-not-recorded": feeds.feed_where_not_recorded,
    "nested-column-unknown": refusals.nested_column_unknown,
    "text-made-a-list": casts.text_made_a_list,
    "restored-though-append-only": definitions.restored_though_append_only,
    "partition-columns-behind": commits.partition_columns_behind,
    "remove-in-another-spelling": commits.remove_in_another_spelling,
    "only-raw-characters": commits.only_raw_characters,
    "raw-replacement-characters": commits.raw_replacement_characters,
    "parsed-stats-beside-json": commits.parsed_stats_beside_json,
    "stats-copied-from-removes": commits.stats_copied_from_removes,
    "equal-images-left-out": commits.equal_images_left_out,
    "append-without-the-tag": commits.append_without_the_tag,
    "column-is-cdc": commits.column_is_cdc,
    "restored-with-fresh-ids": commits.restored_with_fresh_ids,
    "sign-before-the-fraction": commits.sign_before_the_fraction,
    "unreadable-for-the-sign": commits.unreadable_for_the_sign,
    "bytes-as-their-escapes": contents.bytes_as_their_escapes,
    "bytes-as-replacement-characters": contents.bytes_as_replacement_characters,
    "name-of-null-mixed-with-null": contents.name_of_null_mixed_with_null,
    "name-of-null-became-null": contents.name_of_null_became_null,
    "year-of-the-era": contents.year_of_the_era,
    "log-says-null-for-its-name": contents.log_says_null_for_its_name,
    "log-says-the-year-of-the-era": contents.log_says_the_year_of_the_era,
    "log-says-replacement-characters": contents.log_says_replacement_characters,
    "new-columns-filled-too": contents.new_columns_filled_too,
    "operation-sees-empty-text": empty_texts.operation_sees_empty_text,
    "outcome-by-empty-text": empty_texts.outcome_by_empty_text,
    "files-found-by-empty-text": empty_texts.files_found_by_empty_text,
    "merged-by-empty-text": empty_texts.merged_by_empty_text,
    "empty-text-answered": empty_texts.empty_text_answered,
    "changes-tell-empty-text": empty_texts.changes_tell_empty_text,
    "unknown-rows-deleted": contents.unknown_rows_deleted,
    "nan-not-found": contents.nan_not_found,
    "nan-written-as-the-bound": contents.nan_written_as_the_bound,
    "rows-of-respelt-files-stay": contents.rows_of_respelt_files_stay,
    "long-texts-written": contents.long_texts_written,
    "not-null-beside-old-rows": contents.not_null_beside_old_rows,
    "files-rewritten-by-what-is-left": rewrites.files_rewritten_by_what_is_left,
    "files-rewritten-beside-null": rewrites.files_rewritten_beside_null,
    "rows-told-beside-null": rewrites.rows_told_beside_null,
    "rows-told-by-what-is-left": rewrites.rows_told_by_what_is_left,
    "committed-once-more": crashes.committed_once_more,
    "refused-by-its-own-commit": crashes.refused_by_its_own_commit,
    "removed-once-more": crashes.removed_once_more,
    "one-group-of-files-read": passed_over.one_group_of_files_read,
    "one-group-of-files-written": passed_over.one_group_of_files_written,
    "one-group-of-files-written-in-a-race": passed_over.one_group_of_files_written_in_a_race,
    "one-group-of-files-counted": passed_over.one_group_of_files_counted,
    "null-flags-kept": flags.null_flags_kept,
    "items-counted-as-nulls": lists.items_counted_as_nulls,
    "lists-read-as-null": lists.lists_read_as_null,
    "merged-files-stay": merges.merged_files_stay,
    "merge-finds-no-file-to-remove": merges.merge_finds_no_file_to_remove,
    "each-match-by-itself": merges.each_match_by_itself,
    "merged-files-told": merges.merged_files_told,
    "each-match-told": merges.each_match_told,
    "each-match-counted": merges.each_match_counted,
    "values-of-removes-are-short": tombstones.values_of_removes_are_short,
    "refused-for-a-null-of-a-remove": tombstones.refused_for_a_null_of_a_remove,
    "decimal-bound-does-not-fit": refusals.decimal_bound_does_not_fit,
    "selectivity-of-all-longs": refusals.selectivity_of_all_longs,
    "pruning-by-an-unknown-column": refusals.pruning_by_an_unknown_column,
    "vectors-not-supported": refusals.vectors_not_supported,
    "casts-of-moments-refused": refusals.casts_of_moments_refused,
    "all-but-live-files-vacuumed": tombstones.all_but_live_files_vacuumed,
    "partition-columns-answered-last": answers.partition_columns_answered_last,
    "vacuum-begun-and-told-as-nothing": tombstones.vacuum_begun_and_told_as_nothing,
    "new-files-vacuumed": tombstones.new_files_vacuumed,
    "zeros-told-apart": zeros.zeros_told_apart,
    "zeros-told-apart-in-a-write": zeros.zeros_told_apart_in_a_write,
    "process-aborts-on-slices": outcomes.process_aborts_on_slices,
    "merge-of-all-not-parsed": outcomes.merge_of_all_not_parsed,
    "deleted-by-several-source-rows": outcomes.deleted_by_several_source_rows,
    "written-under-a-known-transaction": outcomes.written_under_a_known_transaction,
    "files-with-tilde-missing": outcomes.files_with_tilde_missing,
    "folder-name-too-long": outcomes.folder_name_too_long,
    "constraint-without-the-point": rules.constraint_without_the_point,
    "column-that-is-there-merged": outcomes.column_that_is_there_merged,
    "table-not-replaced": outcomes.table_not_replaced,
    "left-over-folder-taken-for-a-table": outcomes.left_over_folder_taken_for_a_table,
    "delete-wants-delta-sources": outcomes.delete_wants_delta_sources,
    "nul-in-a-folder-name": outcomes.nul_in_a_folder_name,
    "state-not-empty": outcomes.state_not_empty,
    "year-not-parsed": outcomes.year_not_parsed,
    "moment-does-not-fit": moments.moment_does_not_fit,
    "change-data-under-escaped-path": outcomes.change_data_under_escaped_path,
    "vectors-alone-deleted": outcomes.vectors_alone_deleted,
    "feed-times-of-commit-info": outcomes.feed_times_of_commit_info,
    "history-times-of-commit-info": outcomes.history_times_of_commit_info,
    "append-refused-as-reader": races.append_refused_as_reader,
    "rewritten-files-optimized-again": races.rewritten_files_optimized_again,
    "optimized-files-kept": races.optimized_files_kept,
    "optimize-removes-optimized-files": races.optimize_removes_optimized_files,
    "overwrite-removes-optimized-files": races.overwrite_removes_optimized_files,
    "new-files-kept": races.new_files_kept,
}


def matches(prediction: Prediction, observation: Observation, violation: Violation) -> bool:
    """Whether a violation is what a cause predicts: its requirement, and its difference if it names one."""
    if violation.requirement not in prediction.requirements:
        return False
    if prediction.difference is None:
        return True
    try:
        return DIFFERENCES[prediction.difference](observation, violation)
    except NOT_COMPUTABLE:
        return False  # what a mechanism would give can't be said of this table, so nothing says that it was at work
