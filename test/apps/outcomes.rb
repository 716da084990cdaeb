# outcomes.rb - for Minitest: each test's outcome (passed, failed, skipped) goes to the file OUTCOMES, as compare.py reads it.
require "minitest"

class Outcomes < Minitest::AbstractReporter
  @lines = []

  class << self
    attr_reader :lines
  end

  def record(result)
    outcome = result.skipped? ? "skipped" : result.passed? ? "passed" : "failed"
    self.class.lines << "#{result.klass}##{result.name}\t#{outcome}"
  end

  def report
    File.write(ENV.fetch("OUTCOMES"), self.class.lines.sort.join("\n") + "\n")
  end
end

module Minitest
  def self.plugin_outcomes_init(_options)
    reporter << Outcomes.new
  end
  extensions << "outcomes"
end
