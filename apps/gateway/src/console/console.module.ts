import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsoleFiles } from './console-files.js';
import { RootController } from './root.controller.js';

@Module({
  controllers: [RootController, ConsoleController],
  providers: [{ provide: ConsoleFiles, useFactory: () => new ConsoleFiles() }],
})
export class ConsoleModule {}
