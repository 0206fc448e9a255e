ALTER TABLE `rounds` RENAME COLUMN "solving_at" TO "rollout_at";--> statement-breakpoint
UPDATE `rounds` SET `stage` = 'rollout' WHERE `stage` = 'solving';--> statement-breakpoint
UPDATE `groups` SET `state` = 'rollout' WHERE `state` = 'rolling';--> statement-breakpoint
UPDATE `runs` SET `roles` = replace(replace(replace(replace(`roles`, '"behind":', '"lag":'), '"holds":', '"refreshEvery":'), '"pool":', '"sampleFrom":'), '"fixed":', '"pinned":');