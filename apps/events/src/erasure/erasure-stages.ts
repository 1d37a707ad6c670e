import type { FactoryProvider, Type } from '@nestjs/common';
import { AnnouncingStage } from './announcing.stage.js';
import { CachesStage } from './caches.stage.js';
import { DeadLettersStage } from './dead-letters.stage.js';
import type { Stage } from './erasure-step.js';
import { EventStreamStage } from './event-stream.stage.js';
import { IngestStage } from './ingest.stage.js';
import { StoreStage } from './store.stage.js';
import { StreamersStage } from './streamers.stage.js';
import { SummariesStage } from './summaries.stage.js';

/** Injection token of the stages of an erasure. */
export const ERASURE_STAGES = Symbol('ERASURE_STAGES');

/** The stages of an erasure, in no particular order: see `erasureStages`. */
export const stageClasses: Type<Stage>[] = [
  AnnouncingStage,
  StoreStage,
  SummariesStage,
  DeadLettersStage,
  IngestStage,
  StreamersStage,
  EventStreamStage,
  CachesStage,
];

/** Provides the stages as a list. */
export const stagesProvider: FactoryProvider<Stage[]> = {
  provide: ERASURE_STAGES,
  inject: stageClasses,
  useFactory: (...stages: Stage[]) => stages,
};
