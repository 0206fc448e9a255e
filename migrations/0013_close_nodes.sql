ALTER TABLE `nodes` ADD `exactness` text DEFAULT 'exact' NOT NULL;--> statement-breakpoint
ALTER TABLE `nodes` ADD `compared_tokens` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `nodes` ADD `mismatch_sum` real DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `nodes` ADD `mismatch_most` real DEFAULT 0 NOT NULL;