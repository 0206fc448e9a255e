/** Prints an audit's findings for people. */
import { deviationOf } from '../../core/audit/chance.ts';
import type { AuditClass } from '../../core/audit/findings.ts';
import { duration, percent, whole } from '../shared/figures.ts';
import type { AuditReport } from './audit-mesh.ts';

const SAYS: Readonly<Record<AuditClass, string>> = {
  round: 'the round is what was ordered, and whole',
  hash: 'objects have the bytes that were noted',
  seal: 'seals fit round, group, versions, hashes',
  provenance: 'records are of this round, group, task',
  'sample-id': 'ids, which are the seeds, are derived',
  version: 'samples name the round’s versions',
  prompt: 'prompts are those of their tasks',
  token: 'tokens, drawn again',
  'log-probability': 'log-probabilities, drawn or scored again',
  measurement: 'measurements, made again',
  outcome: 'outcomes, read again',
  reward: 'rewards, computed again',
  oracle: 'exact checks, made again',
};

/** The most findings that are shown one by one. */
const SHOWN = 20;

function closeLines({ close }: AuditReport): string[] {
  if (!close) return [];
  const { samples, mismatch } = close;
  const { tokens, sum, most } = mismatch;
  const found = tokens
    ? `${whole(tokens)} of their tokens were scored again: ${(sum / tokens).toPrecision(2)} nats off on average, ${most.toPrecision(2)} at most, and draws ${deviationOf(mismatch).toFixed(1)} standard deviations from chance`
    : 'none of their tokens was scored again';
  return [`Close nodes answered ${whole(samples)} samples, which cannot be drawn again; ${found}.`];
}

export function auditLines(report: AuditReport): string[] {
  const { index, round, groups, proposals, fraction, classes, findings, wallMs } = report;
  const column = (text: string | number, width = 10) => String(text).padStart(width);
  const rows = classes
    .filter(({ checked }) => checked > 0)
    .map(
      (row) =>
        `  ${SAYS[row.class].padEnd(42)}${column(whole(row.checked))}${column(whole(row.checked - row.differing))}${column(whole(row.differing))}`,
    );
  const shown = findings.slice(0, SHOWN).map((finding) => {
    const place = finding.group ? `group ${finding.group}` : 'proposals';
    return `  ${finding.class}: ${place}${finding.sample ? `, sample ${finding.sample}` : ''}: ${finding.message}`;
  });
  const more =
    findings.length > SHOWN ? [`  … and ${findings.length - SHOWN} more; --json has all of them.`] : [];
  return [
    `Round ${index} (${round}): ${groups} groups, ${proposals} proposals; all read again, ${percent(fraction)} drawn again, in ${duration(wallMs)}.`,
    ...report.services.map(
      (url) => `The rewards of ${url} are taken as recorded: a service need not answer the same again.`,
    ),
    ...(report.agents
      ? [
          'Prompts and rewards of episodes are taken as recorded: no agent and no environment was asked again.',
        ]
      : []),
    ...closeLines(report),
    ...(report.sealChecked ? [] : ['No MESH_KEY: seals were not checked.']),
    '',
    `  ${''.padEnd(42)}${column('checked')}${column('equal')}${column('differing')}`,
    ...rows,
    '',
    ...(findings.length ? ['Differences:', ...shown, ...more] : ['Nothing differs.']),
  ];
}
