ALTER TABLE `nodes` ADD `verifies` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `nodes` ADD `drift` real DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `nodes` ADD `drift_squares` real DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `nodes` ADD `drift_slack` real DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `nodes` ADD `compared_round` text;