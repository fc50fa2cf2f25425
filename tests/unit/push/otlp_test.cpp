// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <otlp_profiles.pb.h>

#include <map>
#include <string>

#include "profile/gzip.h"
#include "push/back_end.h"
#include "support/small_profile.h"

namespace bobbin::push {
namespace {

namespace otlp = opentelemetry::proto::profiles::v1development;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Pair;

using Texts = std::map<std::string, std::string>;

// As a receiver reads it: an index that leads nowhere fails the test.
class Reader {
public:
    explicit Reader(const Request& request) {
        const auto bytes = profile::gunzip(request.body, 10'000'000);
        EXPECT_TRUE(bytes);
        EXPECT_TRUE(message_.ParseFromString(*bytes));
        const otlp::ProfilesDictionary& tables = message_.dictionary();
        EXPECT_EQ(tables.string_table(0), "");
        for (const std::string& empty : {tables.mapping_table(0).SerializeAsString(),
                                         tables.location_table(0).SerializeAsString(),
                                         tables.function_table(0).SerializeAsString(),
                                         tables.attribute_table(0).SerializeAsString(),
                                         tables.stack_table(0).SerializeAsString()}) {
            EXPECT_EQ(empty, "");
        }
    }

    [[nodiscard]] const otlp::ExportProfilesServiceRequest& message() const { return message_; }
    [[nodiscard]] std::string text(int index) const {
        const auto& table = message_.dictionary().string_table();
        return index < table.size() ? table[index] : "no such text";
    }
    // Names of functions, leaf first.
    [[nodiscard]] std::vector<std::string> names(const otlp::Sample& sample) const {
        const otlp::ProfilesDictionary& tables = message_.dictionary();
        std::vector<std::string> all;
        for (const int place : tables.stack_table(sample.stack_index()).location_indices()) {
            for (const otlp::Line& line : tables.location_table(place).lines()) {
                all.push_back(text(tables.function_table(line.function_index()).name_strindex()));
            }
        }
        return all;
    }
    template <class Owner>
    [[nodiscard]] Texts attributes(const Owner& owner) const {
        Texts all;
        for (const int index : owner.attribute_indices()) {
            const otlp::KeyValueAndUnit& attribute = message_.dictionary().attribute_table(index);
            const otlp::AnyValue& value = attribute.value();
            all[text(attribute.key_strindex())] = value.value_case() == otlp::AnyValue::kIntValue
                                                      ? std::to_string(value.int_value())
                                                      : value.string_value();
        }
        return all;
    }
    static Texts attributes(const otlp::Resource& resource) {
        Texts all;
        for (const otlp::KeyValue& attribute : resource.attributes()) {
            all[attribute.key()] = attribute.value().string_value();
        }
        return all;
    }

private:
    otlp::ExportProfilesServiceRequest message_;
};

std::vector<Request> requests_of(const symbolize::NamedProfile& profile) {
    const auto target = parse_target("otlp+http://c:4318");
    EXPECT_TRUE(target);
    auto requests = make_requests(*target, profile, {{"host", "web1"}, {"zone", "a"}});
    EXPECT_TRUE(requests);
    return std::move(*requests);
}

// worker.service has 60 samples of main;work, nginx.service 30 of main;serve, 50 ms each.
TEST(OtlpRequests, HaveAResourceForEachService) {
    const auto requests = requests_of(test::small_profile(store::test::kMorning));
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].url, "http://c:4318/v1development/profiles");
    EXPECT_THAT(requests[0].headers,
                ElementsAre("Content-Type: application/x-protobuf", "Content-Encoding: gzip"));
    const Reader reader(requests[0]);
    ASSERT_EQ(reader.message().resource_profiles_size(), 2);
    const otlp::ResourceProfiles& worker = reader.message().resource_profiles(0);
    EXPECT_THAT(Reader::attributes(worker.resource()),
                ElementsAre(Pair("host.name", "web1"), Pair("service.name", "worker.service"),
                            Pair("zone", "a")));
    ASSERT_EQ(worker.scope_profiles_size(), 1);
    ASSERT_EQ(worker.scope_profiles(0).profiles_size(), 1);
    const otlp::Profile& profile = worker.scope_profiles(0).profiles(0);
    EXPECT_EQ(reader.text(profile.sample_type().type_strindex()), "cpu");
    EXPECT_EQ(reader.text(profile.sample_type().unit_strindex()), "nanoseconds");
    EXPECT_EQ(profile.time_unix_nano(), 1'795'343'400'000'000'000U);
    EXPECT_EQ(profile.duration_nano(), 60'000'000'000U);
    EXPECT_EQ(profile.period(), 50'000'000);
    ASSERT_EQ(profile.samples_size(), 1);
    EXPECT_THAT(profile.samples(0).values(), ElementsAre(60 * 50'000'000LL));
    EXPECT_THAT(reader.names(profile.samples(0)), ElementsAre("work", "main"));
    EXPECT_THAT(
        reader.attributes(profile.samples(0)),
        IsSupersetOf({Pair("process.pid", "1"), Pair("thread.id", "1"),
                      Pair("thread.name", "worker"), Pair("process.executable.name", "worker")}));
    const otlp::Profile& nginx =
        reader.message().resource_profiles(1).scope_profiles(0).profiles(0);
    EXPECT_THAT(reader.names(nginx.samples(0)), ElementsAre("serve", "main"));
    EXPECT_THAT(nginx.samples(0).values(), ElementsAre(30 * 50'000'000LL));
}

TEST(OtlpRequests, HaveTheFilesThatFramesAreIn) {
    symbolize::NamedProfile profile = test::small_profile(store::test::kMorning);
    profile.mappings.at(0).build_id = "00ff";
    const auto requests = requests_of(profile);
    const Reader reader(requests.at(0));
    const otlp::ProfilesDictionary& tables = reader.message().dictionary();
    ASSERT_EQ(tables.mapping_table_size(), 2);
    const otlp::Mapping& mapping = tables.mapping_table(1);
    EXPECT_EQ(reader.text(mapping.filename_strindex()), "/usr/bin/app");
    EXPECT_EQ(mapping.memory_start(), 0x1000U);
    EXPECT_EQ(mapping.memory_limit(), 0x9000U);
    EXPECT_THAT(reader.attributes(mapping),
                ElementsAre(Pair("process.executable.build_id.gnu", "00ff")));
    ASSERT_EQ(tables.location_table_size(), 4);
    EXPECT_EQ(tables.location_table(1).mapping_index(), 1);
    EXPECT_THAT(reader.attributes(tables.location_table(1)),
                ElementsAre(Pair("profile.frame.type", "native")));
}

}  // namespace
}  // namespace bobbin::push
