ALTER TABLE `calls` ADD `role` text DEFAULT 'solver' NOT NULL;--> statement-breakpoint
ALTER TABLE `episodes` ADD `seat_rewards` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `agents_told_at` integer;