CREATE TABLE `calls` (
	`grp` text NOT NULL,
	`sample` integer NOT NULL,
	`turn` integer NOT NULL,
	`request` text NOT NULL,
	`asked` text NOT NULL,
	`state` text NOT NULL,
	`dialogue` text,
	PRIMARY KEY(`grp`, `sample`, `turn`)
);
--> statement-breakpoint
CREATE TABLE `episodes` (
	`grp` text NOT NULL,
	`sample` integer NOT NULL,
	`round` text NOT NULL,
	`idx` integer NOT NULL,
	`opening` text NOT NULL,
	`state` text NOT NULL,
	`reward` real,
	`missing` text,
	`opened_at` integer NOT NULL,
	`touched_at` integer NOT NULL,
	PRIMARY KEY(`grp`, `sample`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `episodes_by_opening` ON `episodes` (`opening`);--> statement-breakpoint
CREATE INDEX `episodes_of_round` ON `episodes` (`round`);--> statement-breakpoint
CREATE INDEX `episodes_by_state` ON `episodes` (`state`,`touched_at`);