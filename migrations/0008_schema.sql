CREATE TABLE `nodes` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`token_sha256` text NOT NULL,
	`public_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`kind` text,
	`threads` integer,
	`seen_at` integer,
	`revoked_at` integer,
	`shut_out_at` integer,
	`reason` text,
	`requests` integer DEFAULT 0 NOT NULL,
	`samples` integer DEFAULT 0 NOT NULL,
	`tokens` integer DEFAULT 0 NOT NULL,
	`lost` integer DEFAULT 0 NOT NULL,
	`audited` integer DEFAULT 0 NOT NULL,
	`audited_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nodes_by_name` ON `nodes` (`name`);--> statement-breakpoint
CREATE TABLE `work` (
	`id` text PRIMARY KEY NOT NULL,
	`round` text NOT NULL,
	`stage` text NOT NULL,
	`grp` text NOT NULL,
	`idx` integer NOT NULL,
	`request` text NOT NULL,
	`engine` text NOT NULL,
	`samples` integer NOT NULL,
	`state` text NOT NULL,
	`node` text,
	`lease` text,
	`leased_until` integer,
	`sha256` text,
	`seal` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `work_by_state` ON `work` (`state`,`created_at`);--> statement-breakpoint
CREATE INDEX `work_of_round` ON `work` (`round`,`stage`);