ALTER TABLE `groups` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `rounds` ADD `proposals_sha256` text;