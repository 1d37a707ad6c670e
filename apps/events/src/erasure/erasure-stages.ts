import type { FactoryProvider, Type } from '@nestjs/common';
import { AnnouncingStage } from './announcing.stage.js';
import { CachesStage } from './caches.stage.js';
import { DeadLettersStage } from './dead-letters.stage.js';
import type { Stage } from './erasure-step.js';
import { EventStreamStage } from './event-stream.stage.js';
import { IngestStage } from './ingest.stage.js';
import { ConnectorStage, GatewayStage } from './stored-users.stages.js';
import { StoreStage } from './store.stage.js';
import { StreamersStage } from './streamers.stage.js';
import { SummariesStage } from './summaries.stage.js';

export const ERASURE_STAGES = Symbol('ERASURE_STAGES');

/** Their order here does not matter: `erasureStages` defines the order. */
export const stageClasses: Type<Stage>[] = [
  AnnouncingStage,
  StoreStage,
  SummariesStage,
  DeadLettersStage,
  IngestStage,
  StreamersStage,
  ConnectorStage,
  GatewayStage,
  EventStreamStage,
  CachesStage,
];

/** Injects the stages as a list. */
export const stagesProvider: FactoryProvider<Stage[]> = {
  provide: ERASURE_STAGES,
  inject: stageClasses,
  useFactory: (...stages: Stage[]) => stages,
};
