CREATE TABLE `calls` (
	`grp` text NOT NULL,
	`sample` integer NOT NULL,
	`turn` integer NOT NULL,
	`role` text NOT NULL,
	`request` text NOT NULL,
	`asked` text NOT NULL,
	`state` text NOT NULL,
	`dialogue` text,
	PRIMARY KEY(`grp`, `sample`, `turn`)
);
--> statement-breakpoint
CREATE TABLE `commits` (
	`policy` text NOT NULL,
	`version` integer NOT NULL,
	`manifest_sha256` text NOT NULL,
	PRIMARY KEY(`policy`, `version`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `dead_letters` (
	`id` text PRIMARY KEY NOT NULL,
	`queue` text NOT NULL,
	`body` text NOT NULL,
	`attempts` integer NOT NULL,
	`kind` text NOT NULL,
	`code` text NOT NULL,
	`cause` text NOT NULL,
	`round` text,
	`grp` text,
	`at` integer NOT NULL,
	`replayed_at` integer
);
--> statement-breakpoint
CREATE INDEX `dead_letters_by_time` ON `dead_letters` (`at`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `episodes` (
	`grp` text NOT NULL,
	`sample` integer NOT NULL,
	`round` text NOT NULL,
	`idx` integer NOT NULL,
	`opening` text NOT NULL,
	`state` text NOT NULL,
	`reward` real,
	`seat_rewards` text,
	`turn_rewards` text,
	`missing` text,
	`opened_at` integer NOT NULL,
	`touched_at` integer NOT NULL,
	PRIMARY KEY(`grp`, `sample`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `episodes_by_opening` ON `episodes` (`opening`);--> statement-breakpoint
CREATE INDEX `episodes_of_round` ON `episodes` (`round`);--> statement-breakpoint
CREATE INDEX `episodes_by_state` ON `episodes` (`state`,`touched_at`);--> statement-breakpoint
CREATE TABLE `groups` (
	`round` text NOT NULL,
	`id` text NOT NULL,
	`idx` integer NOT NULL,
	`task` text NOT NULL,
	`proposal` text,
	`state` text NOT NULL,
	`sha256` text,
	`mac` text,
	`failure` text,
	PRIMARY KEY(`round`, `id`)
);
--> statement-breakpoint
CREATE TABLE `nodes` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`token_sha256` text NOT NULL,
	`public_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`exactness` text DEFAULT 'exact' NOT NULL,
	`reads` text,
	`sees_gold` integer DEFAULT false NOT NULL,
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
	`audited_at` integer,
	`compared_tokens` integer DEFAULT 0 NOT NULL,
	`mismatch_sum` real DEFAULT 0 NOT NULL,
	`mismatch_most` real DEFAULT 0 NOT NULL,
	`drift` real DEFAULT 0 NOT NULL,
	`drift_squares` real DEFAULT 0 NOT NULL,
	`drift_slack` real DEFAULT 0 NOT NULL,
	`compared_round` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nodes_by_name` ON `nodes` (`name`);--> statement-breakpoint
CREATE TABLE `policies` (
	`name` text PRIMARY KEY NOT NULL,
	`current` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `rounds` (
	`id` text PRIMARY KEY NOT NULL,
	`run` text NOT NULL,
	`idx` integer NOT NULL,
	`spec` text NOT NULL,
	`state` text NOT NULL,
	`expected` integer DEFAULT 0 NOT NULL,
	`proposed` integer DEFAULT 0 NOT NULL,
	`proposals_sha256` text,
	`reason` text,
	`version` integer,
	`report` text,
	`created_at` integer NOT NULL,
	`rollout_at` integer,
	`training_at` integer,
	`ended_at` integer,
	`touched_at` integer NOT NULL,
	`redrives` integer DEFAULT 0 NOT NULL,
	`attempt` integer DEFAULT 0 NOT NULL,
	`told_at` integer,
	`traced_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rounds_of_run` ON `rounds` (`run`,`idx`);--> statement-breakpoint
CREATE INDEX `rounds_by_state` ON `rounds` (`state`);--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`settings` text NOT NULL,
	`roles` text NOT NULL,
	`target` integer NOT NULL,
	`state` text NOT NULL,
	`created_at` integer NOT NULL,
	`label` text,
	`agents_told_at` integer,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE TABLE `usage` (
	`round` text NOT NULL,
	`stage` text NOT NULL,
	`requests` integer NOT NULL,
	`cpu_ms` integer NOT NULL,
	`queue_operations` integer NOT NULL,
	`d1_rows_read` integer NOT NULL,
	`d1_rows_written` integer NOT NULL,
	`r2_class_a` integer NOT NULL,
	`r2_class_b` integer NOT NULL,
	`r2_bytes_written` integer NOT NULL,
	`r2_bytes_read` integer NOT NULL,
	PRIMARY KEY(`round`, `stage`)
);
--> statement-breakpoint
CREATE TABLE `versions` (
	`policy` text NOT NULL,
	`version` integer NOT NULL,
	`parent` integer,
	`round` text,
	`bytes` integer NOT NULL,
	`elsewhere` text,
	`manifest_sha256` text NOT NULL,
	`weights_sha256` text NOT NULL,
	`created_at` integer NOT NULL,
	`withdrawn` text,
	`withdrawn_at` integer,
	`pruned_at` integer,
	PRIMARY KEY(`policy`, `version`)
);
--> statement-breakpoint
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