CREATE TABLE `commits` (
	`policy` text NOT NULL,
	`version` integer NOT NULL,
	`manifest_sha256` text NOT NULL,
	PRIMARY KEY(`policy`, `version`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `deliveries_by_id` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `deliveries_by_id` SELECT `id`, `at` FROM `deliveries`;
--> statement-breakpoint
DROP TABLE `deliveries`;
--> statement-breakpoint
ALTER TABLE `deliveries_by_id` RENAME TO `deliveries`;
