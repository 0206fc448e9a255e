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
);
--> statement-breakpoint
CREATE TABLE `groups` (
	`round` text NOT NULL,
	`id` text NOT NULL,
	`idx` integer NOT NULL,
	`task` text NOT NULL,
	`proposal` text,
	`state` text NOT NULL,
	`sha256` text,
	`failure` text,
	PRIMARY KEY(`round`, `id`)
);
--> statement-breakpoint
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
	`stage` text NOT NULL,
	`expected` integer DEFAULT 0 NOT NULL,
	`proposed` integer DEFAULT 0 NOT NULL,
	`reason` text,
	`version` integer,
	`report` text,
	`created_at` integer NOT NULL,
	`solving_at` integer,
	`training_at` integer,
	`ended_at` integer,
	`touched_at` integer NOT NULL,
	`redrives` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rounds_of_run` ON `rounds` (`run`,`idx`);--> statement-breakpoint
CREATE INDEX `rounds_by_stage` ON `rounds` (`stage`);--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`settings` text NOT NULL,
	`roles` text NOT NULL,
	`target` integer NOT NULL,
	`state` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `versions` (
	`policy` text NOT NULL,
	`version` integer NOT NULL,
	`parent` integer,
	`round` text,
	`bytes` integer NOT NULL,
	`created_at` integer NOT NULL,
	`withdrawn` text,
	PRIMARY KEY(`policy`, `version`)
);
