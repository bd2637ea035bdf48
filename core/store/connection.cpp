#include "core/store/detail/connection.h"

#include "core/store/detail/open_database.h"

namespace batchscope::store::detail {

Connection::Connection(const std::filesystem::path& file, Access access, std::function<SQLite::Database()> open,
                       std::function<void()> on_drop)
    : access_(access), open_(std::move(open)), on_drop_(std::move(on_drop)), shared_(OpenDatabase::of(file)) {
  shared_->add(*this);
  try {
    shared_->make_ready(*this);
  } catch (...) {
    shared_->remove(*this);
    throw;
  }
}

Connection::~Connection() {
  close();
}

void Connection::close() {
  shared_->remove(*this);
}

Connection::Use::Use(Connection& connection, std::unique_lock<std::recursive_mutex> lock)
    : connection_(&connection), lock_(std::move(lock)) {
  ++connection_->uses_;
}

Connection::Use::~Use() {
  if (lock_.owns_lock())
    --connection_->uses_;
}

Connection::Use Connection::use() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      // During a use nothing changes: it reads from one snapshot.
      if (uses_ > 0 || (database_ && !shared_->replaced()))
        return {*this, std::move(lock)};
    }
    shared_->make_ready(*this);
  }
}

bool Connection::replaced() const {
  return shared_->replaced();
}

std::string Connection::notice() const {
  return shared_->notice();
}

} // namespace batchscope::store::detail
