/** `npx rollmesh dead-letters`: lists the messages that will not be tried again, with their causes, and sends one or all of them again. */
import { Command } from 'commander';
import { calledAs } from '../called-as.ts';
import { printable, printableLines } from '../printable.ts';
import { type MeshOptions, meshSubcommands, onMesh } from '../shared/mesh-commands.ts';

export function command(): Command {
  const command = new Command(calledAs('dead-letters')).description(
    'Messages that will not be tried again. A deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.',
  );

  const subcommand = meshSubcommands(command);

  subcommand('list', 'the newest first, those that were sent again left out')
    .option('--replayed', 'those too', false)
    .action(({ state, json, replayed }: MeshOptions & { replayed: boolean }) =>
      onMesh(state, async (gateway) => {
        const letters = await gateway.listDeadLetters(replayed);
        if (!json && !letters.length) console.log('None.');
        for (const letter of letters)
          console.log(
            json
              ? JSON.stringify(letter)
              : printableLines(
                  `${letter.id}  ${letter.queue}, ${letter.attempts} deliveries, ${letter.kind} ${letter.code}${letter.replayedAt === null ? '' : ', sent again'}\n  ${letter.cause}`,
                ),
          );
      }),
    );

  subcommand('replay', 'sends them again; refused where their round has moved on')
    .argument('[ids...]', 'which; all of them where none is named')
    .action((ids: readonly string[], { state, json }: MeshOptions) =>
      onMesh(state, async (gateway) => {
        const results = ids.length
          ? await Promise.all(ids.map((id) => gateway.replayDeadLetter(id)))
          : await gateway.replayDeadLetters();
        for (const result of results)
          console.log(
            json
              ? JSON.stringify(result)
              : printable(
                  `${result.id}  ${result.state}${result.state === 'refused' ? `: ${result.reason}` : ''}`,
                ),
          );
        if (results.some((result) => result.state === 'refused')) process.exitCode = 1;
      }),
    );
  return command;
}
