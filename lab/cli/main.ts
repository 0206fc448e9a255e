import { command } from './command.ts';
import { failed } from './failed.ts';

try {
  await command().parseAsync();
} catch (error) {
  failed(error);
}
