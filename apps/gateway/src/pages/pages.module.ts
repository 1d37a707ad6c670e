import { Module } from '@nestjs/common';
import { PagesController } from './pages.controller.js';
import { RootController } from './root.controller.js';

@Module({ controllers: [RootController, PagesController] })
export class PagesModule {}
