import { Module } from '@nestjs/common';
import { EventListController } from './event-list.controller.js';
import { EventListRepository } from './event-list.repository.js';

@Module({ controllers: [EventListController], providers: [EventListRepository] })
export class EventListModule {}
