/** The model card of a version that is published: what it was trained from, by what, and how that is checked. */
import type { PolicyRef } from '../../core/policy/policy.ts';
import { evaluationFigures } from '../../core/round/round-figures.ts';
import type { RunState } from '../../core/schema/answers.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

/** What is known of the training of a version. */
export interface Training {
  readonly run: RunState;
  /** The round that made it. */
  readonly round: number;
  /** Evaluations of the version that the run began from, and of this one; absent where nobody evaluated them. */
  readonly start?: EvaluationReport | undefined;
  readonly own?: EvaluationReport | undefined;
}

/** Reads it; undefined for a version that was imported, or whose run was deleted. */
export async function trainingOf(
  gateway: Pick<GatewayClient, 'getRound' | 'getRun' | 'reportedRounds'>,
  { version, round }: Manifest,
): Promise<Training | undefined> {
  if (round === null) return undefined;
  const { run: id, index } = await gateway.getRound(round);
  const [run, rounds] = [await gateway.getRun(id), await gateway.reportedRounds(id)];
  if (run.deletedAt !== null) return undefined;
  const reports = rounds.flatMap(({ report }) => report ?? []);
  return {
    run,
    round: index,
    start: reports.find(({ start }) => start)?.start,
    own: reports.find(({ evaluation }) => evaluation?.version === version)?.evaluation,
  };
}

/** The file of a receipt in the published folder. */
export const RECEIPT_FILE = 'receipt.rollmesh';

interface Card {
  readonly ref: PolicyRef;
  /** `hf:ORG/NAME@COMMIT` where version 0 came from the Hub. */
  readonly importedFrom: string | undefined;
  /** `ORG/NAME` of what an adapter is for, where it was named. */
  readonly base?: string | undefined;
  readonly training: Training | undefined;
  readonly adapter: boolean;
  readonly receipt: boolean;
  readonly release: string;
}

const yaml = (fields: Readonly<Record<string, string | readonly string[] | undefined>>): string[] => [
  '---',
  ...Object.entries(fields).flatMap(([name, value]) =>
    value === undefined
      ? []
      : typeof value === 'string'
        ? [`${name}: ${value}`]
        : [`${name}:`, ...value.map((one) => `- ${one}`)],
  ),
  '---',
];

/** Held-out figures of the start and of the version. Both are shares but for those that a recipe names itself, which are left out. */
function figures({ start, own }: Training): string[] {
  if (!own) return ['This version was not evaluated.'];
  const [before, after] = [start ? evaluationFigures(start) : {}, evaluationFigures(own)];
  const names = Object.keys(after).filter((name) => !name.includes('/figures/'));
  return [
    '| on held-out tasks | start | this version |',
    '|---|---|---|',
    ...names.map((name) => {
      const cells = [before[name], after[name]].map((value) =>
        value === undefined ? '–' : value.toFixed(3),
      );
      return `| ${name.replace('evaluation/', '').replaceAll('_', ' ')} | ${cells.join(' | ')} |`;
    }),
  ];
}

const trained = (training: Training): string[] => {
  const { recipe, seed, tasks, groupSize, rewardFunction, variant, freeze } = training.run.settings;
  const more = [
    ...(variant ? [`variant ${variant}`] : []),
    ...(freeze.length ? [`${freeze.join(' and ')} frozen`] : []),
  ].map((one) => `, ${one}`);
  return [
    `Round ${training.round} of a run of the recipe \`${recipe}\`, paid by \`${rewardFunction}\`, with ${tasks} tasks a round and ${groupSize} rollouts a task, seed ${seed}${more.join('')}.`,
    '',
    ...figures(training),
  ];
};

/** The card as Markdown, with the fields that the Hub reads at its head. */
export function modelCard({ ref, importedFrom, base, training, adapter, receipt, release }: Card): string {
  const [, imported] = /^hf:([^@]+)/.exec(importedFrom ?? '') ?? [];
  return [
    ...yaml({
      library_name: adapter ? 'peft' : 'transformers',
      pipeline_tag: 'text-generation',
      base_model: base ?? imported,
      tags: ['rollmesh', 'reinforcement-learning', ...(training ? [training.run.settings.recipe] : [])],
    }),
    '',
    `# ${ref.name}, version ${ref.version}`,
    '',
    ...(training ? trained(training) : ['This version was imported into rollmesh, and not trained there.']),
    ...(importedFrom === undefined ? [] : ['', `Version 0 was imported from \`${importedFrom}\`.`]),
    '',
    ...(receipt
      ? [
          `\`${RECEIPT_FILE}\` holds the samples that it was trained on. Whoever has rollmesh trains it again from them, and compares the bytes: \`npx rollmesh policy check ${RECEIPT_FILE}\`.`,
          '',
        ]
      : []),
    `Written by rollmesh ${release}. \`manifest.json\` has the hash of each file${training ? ', the settings, and the groups that it was trained on' : ''}.`,
    '',
  ].join('\n');
}
