/** `rollmesh node-token`: makes, lists and revokes the tokens of nodes. */
import { Command, Option } from 'commander';
import { deviationOf } from '../../core/audit/chance.ts';
import type { NodeAnswer } from '../../core/schema/work.ts';
import { calledAs } from '../called-as.ts';
import { heading, row } from '../policy/tables.ts';
import { printable } from '../printable.ts';
import { whole } from '../shared/figures.ts';
import { type MeshOptions, meshSubcommands, onMesh } from '../shared/mesh-commands.ts';

interface Created extends MeshOptions {
  readonly close: boolean;
  readonly gold: boolean;
  readonly reader: boolean;
  readonly verifier: boolean;
}

const NODES = [
  { title: 'node', width: 24, left: true },
  { title: 'state', width: 9, left: true },
  { title: 'threads', width: 7 },
  { title: 'requests', width: 9 },
  { title: 'completions', width: 11 },
  { title: 'tokens', width: 10 },
  { title: 'audited', width: 8 },
  { title: 'lost', width: 5 },
];

const cells = (node: NodeAnswer) => [
  node.name,
  node.state,
  whole(node.threads),
  ...[node.requests, node.samples, node.tokens, node.audited, node.lost].map(whole),
];

/** What audits found of a close node. */
const closeness = ({ mismatch }: NodeAnswer): string => {
  const { tokens, sum, most } = mismatch;
  return `close: ${(sum / tokens).toPrecision(2)} nats off on average and ${most.toPrecision(2)} at most, over ${whole(tokens)} tokens that were scored again; draws ${deviationOf(mismatch).toFixed(1)} standard deviations from chance`;
};

const GOLD = 'may be given prompts that hold reference answers';

/** Why a node that asks for work gets none. */
const left = ({ leaves }: NodeAnswer): string =>
  `does not take what waits (${leaves.join(', ')}): start it with the mesh's own release of rollmesh, and without an --engine that leaves it out`;

export function command(): Command {
  const command = new Command(calledAs('node-token')).description(
    'The tokens by which programs elsewhere compute for a mesh, or read it. A deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.',
  );

  const subcommand = meshSubcommands(command);

  subcommand('create', 'makes a token and prints it, this once')
    .argument('<name>', 'name of the node: lower-case letters, digits, dots and dashes')
    .option(
      '--close',
      'for a node whose engine differs in the last digits (--server): it is audited by scoring again, with tolerances, and not bit by bit',
      false,
    )
    .option(
      '--gold',
      'for a machine of your own: it is also given prompts that hold reference answers, which other nodes never are',
      false,
    )
    .addOption(
      new Option(
        '--verifier',
        'for `rollmesh verify --mesh`: it reads all that is stored, answers of tasks included, writes nothing, and samples nothing',
      )
        .default(false)
        .conflicts(['close', 'gold', 'reader']),
    )
    .addOption(
      new Option(
        '--reader',
        'for a person or program that reads: the page, /metrics and the model endpoints, as READ_TOKEN opens them for all; it can be revoked alone',
      )
        .default(false)
        .conflicts(['close', 'gold']),
    )
    .action((name: string, { state, json, close: isClose, gold, reader, verifier }: Created) =>
      onMesh(state, async (gateway) => {
        const reads = verifier ? 'verifier' : reader ? 'reader' : undefined;
        const made = await gateway.makeNode(name, {
          ...(isClose ? { exactness: 'close' } : {}),
          ...(gold ? { seesGold: true } : {}),
          ...(reads ? { reads } : {}),
        });
        console.log(json ? JSON.stringify(made) : made.token);
      }),
    );

  subcommand('list', 'what nodes there are, and what they have done').action(({ state, json }: MeshOptions) =>
    onMesh(state, async (gateway) => {
      const nodes = await gateway.listNodes();
      if (!json) console.log(nodes.length ? heading(NODES) : 'None.');
      for (const node of nodes) {
        console.log(json ? JSON.stringify(node) : printable(row(NODES, cells(node))));
        if (!json && node.seesGold) console.log(`  ${GOLD}`);
        if (!json && node.mismatch.tokens) console.log(`  ${closeness(node)}`);
        if (!json && node.reason !== null) console.log(printable(`  ${node.reason}`));
        if (!json && node.leaves.length) console.log(printable(`  ${left(node)}`));
      }
    }),
  );

  subcommand('revoke', 'ends a token; what its node holds is open to others again')
    .argument('<name>', 'name of the node')
    .action((name: string, { state, json }: MeshOptions) =>
      onMesh(state, async (gateway) => {
        const revoked = await gateway.revokeNode(name);
        console.log(
          json
            ? JSON.stringify(revoked)
            : `${revoked.name} is revoked; it held ${revoked.released} ${revoked.released === 1 ? 'request' : 'requests'}, open to others again.`,
        );
      }),
    );
  return command;
}
