import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { ChangeLimitsDto } from './limits.dto.js';
import { PlatformLimits, type Limits } from './platform-limits.js';

@Controller('simulator/limits')
export class LimitsController {
  constructor(@Inject(PlatformLimits) private readonly limits: PlatformLimits) {}

  @Get()
  view(): Limits {
    return this.limits.current;
  }

  @Post()
  @HttpCode(200)
  change(@Body() changes: ChangeLimitsDto): Limits {
    this.limits.change(changes);
    return this.limits.current;
  }
}
