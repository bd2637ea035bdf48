#pragma once

namespace batchscope {

/// Opens /dev/null for each standard stream that was closed by whoever started this process: else the next file or
/// socket would get its number, and with it what is printed. It cannot be read or written, as before. Call it first,
/// before there are threads.
void open_standard_streams();

} // namespace batchscope
