/** `rollmesh agents RUN`: prints where programs of one's own open the episodes of a run, and with which token. */
import { Argument, Command } from 'commander';
import type { AgentAccess } from '../../core/schema/agent.ts';
import { calledAs } from '../called-as.ts';
import { openMesh } from '../shared/mesh-access.ts';
import { runNamed } from '../shared/run-named.ts';

interface AgentsOptions {
  readonly state: string;
  readonly json: boolean;
}

/** As lines that a shell or a file of variables takes. */
export const accessLines = ({ url, token }: Pick<AgentAccess, 'url' | 'token'>): readonly string[] => [
  `ROLLMESH_AGENT_URL=${url}`,
  `ROLLMESH_AGENT_TOKEN=${token}`,
];

export const command = (): Command =>
  new Command(calledAs('agents'))
    .description(
      'Prints the address and the token with which programs of your own hold the episodes of a run that was started with --agent.',
    )
    .addArgument(new Argument('<run>', 'id of the run, or `last` for the one that was ordered last'))
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--json', 'one JSON object', false)
    .addHelpText('after', '\nA deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.')
    .action(async (asked: string, { state, json }: AgentsOptions) => {
      const { gateway, close } = await openMesh(state);
      try {
        const access = await gateway.getAgentAccess((await runNamed(gateway, asked)).id);
        console.log(json ? JSON.stringify(access) : accessLines(access).join('\n'));
      } finally {
        await close();
      }
    });
