/** Who sampled which part of a run, what the audit made of it, and whether the run was what a mixed run must be. Pure. */
import type { GroupAnswer } from '../../../core/schema/answers.ts';
import type { Manifest } from '../../../core/schema/policy.ts';
import type { NodeAnswer, RoundShares, RoundWork } from '../../../core/schema/work.ts';

/** The kinds of hosts, one of which each has a part. */
const HOSTS = ['tab', 'process', 'isolates'] as const;
type Host = (typeof HOSTS)[number];

/** What is stored of a round after it was trained. */
export interface StoredPart {
  /** Every sample of the record; `group` is null for proposals. Proposals beyond the last that was needed were sampled and are in no record. */
  readonly sampled: readonly {
    readonly id: string;
    readonly group: string | null;
    readonly tokens: number;
  }[];
  readonly work: RoundWork['work'];
  readonly shares: RoundShares['shares'];
  readonly groups: readonly Pick<GroupAnswer, 'group' | 'state' | 'failure'>[];
  readonly manifest: Pick<Manifest, 'files' | 'audit'>;
  /** What reading the record found wrong with its hashes, seals and versions. */
  readonly damage: readonly string[];
}

interface Part {
  readonly host: Host;
  readonly requests: number;
  /** Of the records. */
  readonly samples: number;
  readonly tokens: number;
  readonly shareOfRequests: number;
  readonly shareOfTokens: number;
  /** Groups in which it sampled something. */
  readonly groups: number;
  /** Of these, those that the learner sampled again before it trained the round, and what came of it. */
  readonly audited: { readonly groups: number; readonly right: number; readonly refused: number };
  /** Of a node: its requests that were sampled again and found right, and why it was shut out, if it was. */
  readonly node?: { readonly requestsRight: number; readonly shutOut: string | null };
}

interface Check {
  readonly what: string;
  readonly right: boolean;
}

type ListedNode = Pick<NodeAnswer, 'id' | 'kind' | 'audited' | 'reason' | 'requests' | 'samples'>;

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

/** Each host's part. A round is audited in full or not at all here: of a smaller share nobody knows afterwards whose groups were drawn. */
export function partsOf(rounds: readonly StoredPart[], nodes: readonly ListedNode[]): Part[] {
  const counted = HOSTS.map((host) => {
    const own = new Set<string | null>(
      host === 'isolates' ? [null] : nodes.filter(({ kind }) => kind === host).map(({ id }) => id),
    );
    const part = { requests: 0, samples: 0, tokens: 0, groups: 0 };
    const audited = { groups: 0, right: 0, refused: 0 };
    for (const { sampled, work, shares, groups, manifest } of rounds) {
      const nodeOf = new Map(work.flatMap(({ node, samples }) => samples.map((id) => [id, node] as const)));
      const mine = sampled.filter(({ id }) => own.has(nodeOf.get(id) ?? null));
      const touched = new Set(mine.map(({ group }) => group));
      const its = groups.filter(({ group }) => touched.has(group));
      part.requests += sum(shares.filter(({ node }) => own.has(node)).map(({ requests }) => requests));
      part.samples += mine.length;
      part.tokens += sum(mine.map(({ tokens }) => tokens));
      part.groups += its.length;
      if (manifest.audit?.fraction !== 1) continue;
      audited.groups += its.length;
      audited.right += its.filter(({ state }) => state === 'trained').length;
      audited.refused += its.filter(({ failure }) => failure?.code.startsWith('audit.')).length;
    }
    const node = nodes.find(({ kind }) => kind === host);
    return {
      host,
      ...part,
      audited,
      ...(node && { node: { requestsRight: node.audited, shutOut: node.reason } }),
    };
  });
  const [requests, tokens] = [sum(counted.map((one) => one.requests)), sum(counted.map((one) => one.tokens))];
  return counted.map(({ host, audited, node, ...part }) => ({
    host,
    ...part,
    shareOfRequests: part.requests / requests,
    shareOfTokens: part.tokens / tokens,
    audited,
    ...(node && { node }),
  }));
}

const hashesOf = (files: Manifest['files']): string =>
  JSON.stringify(
    Object.entries(files)
      .map(([file, { sha256 }]) => [file, sha256])
      .sort(),
  );

/** The versions, counted from 1, that are not the same bytes in both runs, file by file. */
export const differingVersions = (
  mixed: readonly Pick<Manifest, 'files'>[],
  alone: readonly Pick<Manifest, 'files'>[],
): number[] =>
  Array.from({ length: Math.max(mixed.length, alone.length) }, (_, i) => i).flatMap((i) =>
    mixed[i] && alone[i] && hashesOf(mixed[i].files) === hashesOf(alone[i].files) ? [] : [i + 1],
  );

/** `onTheTab`: completions that the tab itself says it returned. `alone`: of the run without nodes. */
export function checksOf(
  rounds: readonly StoredPart[],
  parts: readonly Part[],
  nodes: readonly ListedNode[],
  onTheTab: number,
  alone: readonly StoredPart[],
): Check[] {
  const groups = rounds.flatMap((round) => round.groups);
  const told = (node: string | null) =>
    sum(rounds.flatMap(({ shares }) => shares.filter((one) => one.node === node).map((one) => one.samples)));
  const returned = (node: string) =>
    sum(
      rounds.flatMap(({ work }) => work.filter((one) => one.node === node).map((one) => one.samples.length)),
    );
  const isRecorded = rounds.every(({ sampled, work }) => {
    const ids = new Set(sampled.map(({ id }) => id));
    return work.every(({ group, samples }) => group === null || samples.every((id) => ids.has(id)));
  });
  return [
    {
      what: 'every version of the mixed run has the bytes of the run by isolates alone',
      right: !differingVersions(
        rounds.map(({ manifest }) => manifest),
        alone.map(({ manifest }) => manifest),
      ).length,
    },
    {
      what: 'one node is a browser tab, and one a process',
      right: JSON.stringify(nodes.map(({ kind }) => kind).sort()) === '["process","tab"]',
    },
    {
      what: 'tab, process and isolates each sampled some of it',
      right: parts.every(({ requests, tokens }) => requests > 0 && tokens > 0),
    },
    {
      what: 'no node had a part in the run by isolates alone',
      right: alone.every(({ work, shares }) => !work.length && shares.every(({ node }) => node === null)),
    },
    {
      what: 'every round was audited in full',
      right: rounds.every(({ manifest }) => manifest.audit?.fraction === 1),
    },
    {
      what: 'every request of a node was sampled again and found right',
      right: nodes.every(({ requests, audited, reason }) => audited === requests && reason === null),
    },
    {
      what: 'no group was refused or lost',
      right: groups.every(({ state }) => state === 'trained'),
    },
    {
      what: 'the records have the hashes, seals and versions that the mesh noted',
      right: [...rounds, ...alone].every(({ damage }) => !damage.length),
    },
    {
      what: 'mesh and tab have counted what is in the records, and proposals that were not needed',
      right:
        isRecorded &&
        told(null) >= parts.find(({ host }) => host === 'isolates')!.samples &&
        nodes.every(
          ({ id, kind, samples }) =>
            samples === told(id) && samples === returned(id) && (kind !== 'tab' || samples === onTheTab),
        ),
    },
  ];
}
