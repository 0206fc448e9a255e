ALTER TABLE `runs` ADD `label` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `deleted_at` integer;