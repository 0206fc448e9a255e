/**
 * Checks a run that was played under faults, reading through the gateway alone: what became of every group, and whether the
 * versions form one chain that names each trained group once.
 */

import type { GroupStates, RoundState } from '../../core/schema/answers.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

export interface LedgerRound {
  readonly round: RoundState;
  readonly groups: GroupStates;
  /** The manifest of the version that the round made; null if it made none. */
  readonly manifest: Manifest | null;
}

/** The run's rounds in order. */
export async function readLedger(gateway: GatewayClient, run: string): Promise<LedgerRound[]> {
  const listed = [...(await gateway.listRounds(run))].sort((a, b) => a.index - b.index);
  return Promise.all(
    listed.map(async ({ id }) => {
      const round = await gateway.getRound(id);
      const { name } = round.spec.roles.solver!;
      const manifest = round.version === null ? null : gateway.getManifest({ name, version: round.version });
      return { round, groups: await gateway.getGroups(id), manifest: await manifest };
    }),
  );
}

export interface Balance {
  readonly rounds: number;
  readonly admitted: number;
  readonly trained: number;
  /** Groups that failed with a recorded kind; they do not count as lost. */
  readonly failed: number;
  readonly lost: number;
  readonly trainedTwice: number;
  /** What is wrong, in words; empty if nothing is. */
  readonly errors: readonly string[];
}

/** Checks the groups and versions of rounds that have all ended. */
export function balance(ledger: readonly LedgerRound[]): Balance {
  const errors: string[] = [];
  const groups = ledger.flatMap((entry) => entry.groups);
  const count = (state: string) => groups.filter((group) => group.state === state).length;
  const trained = ledger.flatMap(({ manifest }) => manifest?.groups ?? []);
  const lost = count('rollout') + count('scored');
  const trainedTwice = trained.length - new Set(trained).size;
  if (lost) errors.push(`${lost} groups of ended rounds are neither trained nor failed`);
  if (trainedTwice) errors.push(`${trainedTwice} groups are named by more than one version`);
  ledger.forEach((entry, i) => {
    for (const error of roundErrors(entry, i + 1)) errors.push(`round ${entry.round.index}: ${error}`);
  });
  return {
    rounds: ledger.length,
    admitted: groups.length,
    trained: count('trained'),
    failed: count('failed'),
    lost,
    trainedTwice,
    errors,
  };
}

function roundErrors({ round, groups, manifest }: LedgerRound, position: number): string[] {
  const errors: string[] = [];
  const check = (right: boolean, what: string) => {
    if (!right) errors.push(what);
  };
  check(round.index === position, `stands at place ${position}`);
  check(round.state === 'done', `ended as ${round.state}: ${round.reason}`);
  check(
    groups.length === round.expected,
    `${round.expected} groups were admitted, ${groups.length} are known`,
  );
  check(round.report !== null, 'has no report');
  if (!manifest) return [...errors, 'made no version'];
  const named = new Set(manifest.groups);
  const trained = groups.filter((group) => group.state === 'trained').map((group) => group.group);
  check(manifest.version === position, `made version ${manifest.version}`);
  check(manifest.parent === position - 1, `trained from version ${manifest.parent}`);
  check(manifest.round === round.id, 'its version names another round');
  check(
    named.size === trained.length && trained.every((group) => named.has(group)),
    'its version names other groups than those that are trained',
  );
  return errors;
}
