import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  Inject,
  Param,
  Patch,
  Post,
  Query,
} from '@nestjs/common';
import { ChangeStreamDto, EndStreamDto, StartStreamDto } from './simulated-stream.dto.js';
import { StreamsService, type SimulatedStream } from './streams.service.js';
import type { StreamTruth } from './stream-view.js';

/** Starts, changes, and ends streams. Lists a user's streams without the lag of the streams API. */
@Controller('simulator/streams')
export class SimulatedStreamsController {
  constructor(@Inject(StreamsService) private readonly streams: StreamsService) {}

  @Get()
  list(@Query('user_id') userId?: string): StreamTruth[] {
    if (!userId) throw new BadRequestException('the query parameter user_id is missing');
    return this.streams.list(userId);
  }

  @Post()
  start(@Body() request: StartStreamDto): SimulatedStream {
    return this.streams.start(request);
  }

  @Patch(':userId')
  change(@Param('userId') userId: string, @Body() request: ChangeStreamDto): SimulatedStream {
    return this.streams.change(userId, request);
  }

  @Delete(':userId')
  end(@Param('userId') userId: string, @Body() request?: EndStreamDto): SimulatedStream {
    return this.streams.end(userId, request ?? {});
  }
}
