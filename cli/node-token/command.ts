/** `rollmesh node-token`: makes, lists and revokes the tokens of nodes. */
import { Command, Option } from 'commander';
import { deviationOf } from '../../core/audit/chance.ts';
import type { NodeAnswer } from '../../core/schema/work.ts';
import { calledAs } from '../called-as.ts';
import { heading, row } from '../policy/tables.ts';
import { printable } from '../printable.ts';
import { whole } from '../shared/figures.ts';
import { openMesh } from '../shared/mesh-access.ts';

interface Common {
  readonly state: string;
  readonly json: boolean;
}

interface Created extends Common {
  readonly close: boolean;
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

export function command(): Command {
  const command = new Command(calledAs('node-token')).description(
    'The tokens by which programs elsewhere compute for a mesh. A deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.',
  );

  const subcommand = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .option('--state <dir>', 'folder of all local state', '.rollmesh')
      .option('--json', 'one JSON object per line', false);

  subcommand('create', 'makes a token and prints it, this once')
    .argument('<name>', 'name of the node: lower-case letters, digits, dots and dashes')
    .option(
      '--close',
      'for a node whose engine differs in the last digits (--server): it is audited by scoring again, with tolerances, and not bit by bit',
      false,
    )
    .addOption(
      new Option(
        '--verifier',
        'for `rollmesh verify --mesh`: it reads all that is stored, answers of tasks included, writes nothing, and samples nothing',
      )
        .default(false)
        .conflicts('close'),
    )
    .action(async (name: string, { state, json, close: isClose, verifier }: Created) => {
      const { gateway, close } = await openMesh(state);
      try {
        const made = await gateway.makeNode(name, isClose ? 'close' : 'exact', verifier);
        console.log(json ? JSON.stringify(made) : made.token);
      } finally {
        await close();
      }
    });

  subcommand('list', 'what nodes there are, and what they have done').action(
    async ({ state, json }: Common) => {
      const { gateway, close } = await openMesh(state);
      try {
        const nodes = await gateway.listNodes();
        if (!json) console.log(nodes.length ? heading(NODES) : 'None.');
        for (const node of nodes) {
          console.log(json ? JSON.stringify(node) : printable(row(NODES, cells(node))));
          if (!json && node.mismatch.tokens) console.log(`  ${closeness(node)}`);
          if (!json && node.reason !== null) console.log(printable(`  ${node.reason}`));
        }
      } finally {
        await close();
      }
    },
  );

  subcommand('revoke', 'ends a token; what its node holds is open to others again')
    .argument('<name>', 'name of the node')
    .action(async (name: string, { state, json }: Common) => {
      const { gateway, close } = await openMesh(state);
      try {
        const revoked = await gateway.revokeNode(name);
        console.log(
          json
            ? JSON.stringify(revoked)
            : `${revoked.name} is revoked; it held ${revoked.released} ${revoked.released === 1 ? 'request' : 'requests'}, open to others again.`,
        );
      } finally {
        await close();
      }
    });
  return command;
}
