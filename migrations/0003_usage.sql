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
ALTER TABLE `versions` ADD `withdrawn_at` integer;--> statement-breakpoint
ALTER TABLE `versions` ADD `pruned_at` integer;