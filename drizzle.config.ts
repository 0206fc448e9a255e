/** `npx drizzle-kit generate --name schema` writes the SQL of a changed workers/store/schema.ts into migrations/, which wrangler applies locally and remotely. */
import { defineConfig } from 'drizzle-kit';

export default defineConfig({ dialect: 'sqlite', schema: './workers/store/schema.ts', out: './migrations' });
